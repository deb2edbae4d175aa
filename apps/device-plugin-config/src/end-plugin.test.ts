// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { endPlugin } from "./end-plugin.ts";

/** Starts a program of this name; it is gone at the end. */
async function startProgram(name: string) {
  const stack = new AsyncDisposableStack();
  const directory = await mkdtemp(join(tmpdir(), "switchyard-plugin-"));
  stack.defer(() => rm(directory, { recursive: true }));
  const file = join(directory, name);
  await writeFile(file, "#!/bin/sh\necho started\nread forever\n");
  await chmod(file, 0o755);
  const program = spawn(file, { stdio: ["pipe", "pipe", "inherit"] });
  stack.defer(() => void program.kill("SIGKILL"));
  await once(program.stdout, "data");
  return { program, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

describe("endPlugin", () => {
  it("ends the process of this name in order, and no other", async () => {
    await using plugin = await startProgram("dp-under-test");
    await using other = await startProgram("dp-under-tests");
    const ended = once(plugin.program, "exit");
    expect(await endPlugin("dp-under-test")).toEqual([plugin.program.pid]);
    expect(await ended).toEqual([null, "SIGTERM"]);
    expect(other.program.exitCode).toBeNull();
  });

  it("knows names that are longer than the kernel keeps", async () => {
    await using plugin = await startProgram("device-plugin-under-test");
    expect(await endPlugin("device-plugin-under-test")).toEqual([plugin.program.pid]);
  });

  it("finds nothing where it does not run", async () => {
    expect(await endPlugin("nobody-is-so")).toEqual([]);
  });
});
