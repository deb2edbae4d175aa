// SPDX-License-Identifier: Apache-2.0
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { describe, expect, it } from "@jest/globals";
import { install, runningProgram, type ProgramSource } from "./install.ts";
import { idInLauncher } from "./launcher.ts";
import { createScratch, type Scratch } from "../testing/scratch.ts";

/** A fake Node that answers VERSION with its own text, and writes a code cache on ADD. */
function sourceIn(scratch: Scratch, version: string, runtimeScript?: string): ProgramSource {
  const dir = scratch.path(`source-${version}`);
  mkdirSync(dir, { recursive: true });
  const script =
    runtimeScript ??
    `case "$CNI_COMMAND" in ADD) echo cache > "$3";; *) echo '{"supportedVersions":["${version}"]}' "$@";; esac`;
  writeFileSync(`${dir}/node`, `#!/bin/sh\n${script}\n`);
  chmodSync(`${dir}/node`, 0o755);
  writeFileSync(`${dir}/eve-bridge.cjs`, `// ${version}`);
  writeFileSync(`${dir}/start.cjs`, "");
  return { version, script: `${dir}/eve-bridge.cjs`, runtime: `${dir}/node`, libraries: [] };
}

function call(scratch: Scratch): string {
  const env = { CNI_COMMAND: "VERSION", PATH: process.env["PATH"], NODE_OPTIONS: "--no-such-option" };
  return spawnSync(scratch.path("bin", "eve-bridge"), [], { env }).stdout.toString();
}

function createCniDirectory(): Scratch {
  const scratch = createScratch();
  mkdirSync(scratch.path("bin"));
  return scratch;
}

const versions = (scratch: Scratch) => readdirSync(scratch.path("bin", ".eve-bridge"));

describe("install", () => {
  it("installs a working version with a code cache, and no other files", async () => {
    using scratch = createCniDirectory();
    const { id, launcher, removed } = await install({
      dir: scratch.path("bin"),
      source: sourceIn(scratch, "1.0.0"),
      graceMs: 0,
    });
    expect([launcher, removed]).toEqual([scratch.path("bin", "eve-bridge"), []]);
    expect(call(scratch)).toContain('["1.0.0"]');
    expect(readdirSync(scratch.path("bin")).sort()).toEqual([".eve-bridge", "eve-bridge"]);
    expect(versions(scratch)).toEqual([id]);
    expect(readdirSync(scratch.path("bin", ".eve-bridge", id)).sort()).toEqual([
      "eve-bridge.cache",
      "eve-bridge.cjs",
      "lib",
      "node",
      "start.cjs",
    ]);
    expect(statSync(launcher).mode & 0o777).toBe(0o755);
  });

  it("replaces the previous version and removes it", async () => {
    using scratch = createCniDirectory();
    const first = await install({ dir: scratch.path("bin"), source: sourceIn(scratch, "1.0.0"), graceMs: 0 });
    const second = await install({ dir: scratch.path("bin"), source: sourceIn(scratch, "2.0.0"), graceMs: 0 });
    expect(second.removed).toEqual([first.id]);
    expect(call(scratch)).toContain('["2.0.0"]');
    expect(versions(scratch)).toEqual([second.id]);
  });

  it("changes nothing if the version is already installed", async () => {
    using scratch = createCniDirectory();
    const source = sourceIn(scratch, "1.0.0");
    const first = await install({ dir: scratch.path("bin"), source, graceMs: 0 });
    const before = statSync(scratch.path("bin", ".eve-bridge", first.id)).ino;
    const again = await install({ dir: scratch.path("bin"), source, graceMs: 0 });
    expect([again.id, again.removed, statSync(scratch.path("bin", ".eve-bridge", first.id)).ino]).toEqual([
      first.id,
      [],
      before,
    ]);
  });

  it("replaces EVE's Go plugin", async () => {
    using scratch = createCniDirectory();
    writeFileSync(scratch.path("bin", "eve-bridge"), "\x7fELF");
    await install({ dir: scratch.path("bin"), source: sourceIn(scratch, "1.0.0"), graceMs: 0 });
    expect(call(scratch)).toContain('["1.0.0"]');
  });

  it.each([
    { does: "does not run", runtime: "exit 1" },
    { does: "fails its test ADD", runtime: `[ "$CNI_COMMAND" = VERSION ] && echo supportedVersions || exit 1` },
    { does: "answers VERSION incorrectly", runtime: `[ "$CNI_COMMAND" = VERSION ] && echo hello || echo cache > "$3"` },
  ])("leaves the present version alone when the new one $does", async ({ runtime }) => {
    using scratch = createCniDirectory();
    const first = await install({ dir: scratch.path("bin"), source: sourceIn(scratch, "1.0.0"), graceMs: 0 });
    const bad = sourceIn(scratch, "2.0.0", runtime);
    await expect(install({ dir: scratch.path("bin"), source: bad, graceMs: 0 })).rejects.toThrow();
    expect(call(scratch)).toContain('["1.0.0"]');
    expect(readdirSync(scratch.path("bin")).sort()).toEqual([".eve-bridge", "eve-bridge"]);
    expect(versions(scratch)).toContain(first.id);
    expect(versions(scratch).filter((name) => name.startsWith(".new-"))).toEqual([]);
  });

  it("keeps recent drafts of other installers, and removes old ones", async () => {
    using scratch = createCniDirectory();
    mkdirSync(scratch.path("bin", ".eve-bridge", ".new-other"), { recursive: true });
    writeFileSync(scratch.path("bin", ".new-eve-bridge-1"), "");
    const source = sourceIn(scratch, "1.0.0");
    expect((await install({ dir: scratch.path("bin"), source, graceMs: 0 })).removed).toEqual([]);
    // Only the kernel can set the ctime, so the test moves the clock forward instead.
    const realNow = Date.now;
    Date.now = () => realNow() + 3_600_000;
    try {
      utimesSync(scratch.path("bin", ".eve-bridge", ".new-other"), 0, 0);
      expect((await install({ dir: scratch.path("bin"), source, graceMs: 0 })).removed).toEqual([
        ".new-other",
        ".new-eve-bridge-1",
      ]);
    } finally {
      Date.now = realNow;
    }
  });

  it.each([
    { clock: "was in 1970", wrong: 90_000 },
    { clock: "was years ahead", wrong: Date.UTC(2040, 0) },
  ])("keeps what other installers write while the clock $clock and is set, and removes it later", async ({ wrong }) => {
    using scratch = createCniDirectory();
    const source = sourceIn(scratch, "1.0.0");
    const draft = scratch.path("bin", ".eve-bridge", ".new-other");
    mkdirSync(draft, { recursive: true });
    const again = () => install({ dir: scratch.path("bin"), source, graceMs: 0 });
    // The kernel has the right time, so the process plays the wrong one; the time of the file is from the wrong clock, too.
    utimesSync(draft, wrong / 1_000, wrong / 1_000);
    const realNow = Date.now;
    try {
      for (const now of [wrong, realNow()]) {
        Date.now = () => now;
        expect((await again()).removed).toEqual([]);
      }
      Date.now = () => realNow() + 3_600_000;
      expect((await again()).removed).toEqual([".new-other"]);
    } finally {
      Date.now = realNow;
    }
  });

  it("answers every call while versions are replaced", async () => {
    using scratch = createCniDirectory();
    await install({ dir: scratch.path("bin"), source: sourceIn(scratch, "1.0.0"), graceMs: 0 });
    const loop = `i=0; while [ $i -lt 300 ] && [ ! -e ${scratch.path("stop")} ]; do CNI_COMMAND=VERSION ${scratch.path("bin", "eve-bridge")} || echo FAILED; i=$((i+1)); done`;
    const { spawn } = await import("node:child_process");
    const caller = spawn("/bin/sh", ["-c", loop], { stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    for (const stream of [caller.stdout, caller.stderr])
      stream.on("data", (chunk: Buffer) => (output += chunk.toString()));
    const ended = new Promise((resolve) => caller.on("close", resolve));
    for (const version of ["2.0.0", "3.0.0", "4.0.0"]) {
      await install({ dir: scratch.path("bin"), source: sourceIn(scratch, version), graceMs: 300 });
    }
    writeFileSync(scratch.path("stop"), "");
    await ended;
    const answers = output.trim().split("\n");
    expect(answers.filter((line) => !/^\{"supportedVersions":\["[1-4]\.0\.0"\]\} \S+start\.cjs$/.test(line))).toEqual(
      [],
    );
    expect(answers.length).toBeGreaterThan(3);
  });

  it("returns the id of the installed version", async () => {
    using scratch = createCniDirectory();
    const { id, launcher } = await install({
      dir: scratch.path("bin"),
      source: sourceIn(scratch, "1.0.0"),
      graceMs: 0,
    });
    expect(idInLauncher(readFileSync(launcher, "utf8"))).toBe(id);
    expect(existsSync(scratch.path("bin", ".eve-bridge", id))).toBe(true);
  });
});

describe("runningProgram", () => {
  it("refuses a program that is not the bundle", () => {
    expect(() => runningProgram("1.0.0")).toThrow("only the bundle");
  });
});
