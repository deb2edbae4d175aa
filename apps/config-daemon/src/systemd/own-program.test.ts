// SPDX-License-Identifier: Apache-2.0
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ownProgram } from "./own-program.ts";

let directory = "";
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "own-program-"));
  for (const [path, text] of Object.entries({
    "main.js": "1",
    "main.js.map": "{}",
    "chunks/a.js": "2",
    "chunks/a.js.map": "{}",
    "package.json": "{}",
    "node_modules/koffi/index.js": "3",
    "node_modules/koffi/README.md": "4",
    kubeconfig: "secret",
    "bin/node": "5",
    "lib/libc.so.6": "6",
    "lib/ld-linux-x86-64.so.2": "7",
  })) {
    await mkdir(join(directory, path, ".."), { recursive: true });
    await writeFile(join(directory, path), text);
  }
});
afterEach(() => rm(directory, { recursive: true }));

function program() {
  return ownProgram({
    script: join(directory, "main.js"),
    runtime: join(directory, "bin/node"),
    libraries: ["libc.so.6", "ld-linux-x86-64.so.2"].map((name) => join(directory, "lib", name)),
  });
}

describe("ownProgram", () => {
  it("lists the bundle, its packages, Node and its libraries, and nothing else", async () => {
    expect((await program()).files.map(({ to }) => to)).toEqual([
      ...["main.js", "package.json", "chunks/a.js", "node_modules/koffi/index.js"],
      ...["node", "lib/libc.so.6", "lib/ld-linux-x86-64.so.2", "config-daemon"],
    ]);
  });

  it("starts Node with its own libraries and without the options of the environment", async () => {
    const { id, files } = await program();
    const launcher = files.find(({ to }) => to === "config-daemon");
    expect(launcher !== undefined && "text" in launcher ? launcher.text.split("\n").slice(2) : []).toEqual([
      "unset NODE_OPTIONS",
      `d=/var/lib/sriov/switchyard-${id}`,
      'export NODE_COMPILE_CACHE="$d/cache"',
      'exec "$d/lib/ld-linux-x86-64.so.2" --library-path "$d/lib" "$d/node" "$d/main.js" "$@"',
      "",
    ]);
  });

  it("has the same id as long as the files are the same", async () => {
    const { id } = await program();
    expect((await program()).id).toBe(id);
    await writeFile(join(directory, "chunks/a.js"), "changed");
    expect((await program()).id).not.toBe(id);
  });
});
