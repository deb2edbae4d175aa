// SPDX-License-Identifier: Apache-2.0
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { eventually } from "./eventually.ts";
import { spawnGuarded } from "./guarded-process.ts";

describe("spawnGuarded", () => {
  let directory: string;
  let log: string;
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), "guarded-"));
    log = join(directory, "log");
  });
  afterEach(() => rm(directory, { recursive: true }));

  // A server that prints its pid.
  const server = ["-c", "echo $$; while :; do sleep 0.05; done"];
  const readPid = () => eventually("the pid", async () => Number(await readFile(log, "utf8")) || undefined);

  it("passes arguments and the exit status and appends output to the log", async () => {
    const one = spawnGuarded("/bin/sh", ["-c", 'echo "$1"; exit 3', "sh", "two words; $(false)"], { log });
    expect(await one.exited).toBe(3);
    expect(one.hasExited()).toBe(true);
    const another = spawnGuarded("/bin/sh", ["-c", "echo again >&2"], { log });
    expect(await another.exited).toBe(0);
    expect(await readFile(log, "utf8")).toBe("two words; $(false)\nagain\n");
  });

  it("reports a missing file", async () => {
    expect(await spawnGuarded(join(directory, "none"), [], { log }).exited).toBe(127);
  });

  it("waits for the end of a killed process", async () => {
    const running = spawnGuarded("/bin/sh", server, { log });
    const pid = await readPid();
    await running.kill();
    expect(isAlive(pid)).toBe(false);
    await running.kill(); // a second call is not an error
  });

  it("sends signals", async () => {
    const running = spawnGuarded("/bin/sh", ["-c", "trap 'exit 5' TERM; echo $$; while :; do sleep 0.05; done"], {
      log,
    });
    await readPid();
    running.signal("TERM");
    expect(await running.exited).toBe(5);
  });

  it("leaves no orphan when the parent is killed", async () => {
    const module = join(process.cwd(), "src/guarded-process.ts");
    const script = `import(process.argv[1]).then((m) => m.spawnGuarded("/bin/sh", ${JSON.stringify(server)}, { log: process.argv[2] }))`;
    const parent = spawn(process.execPath, ["-e", script, module, log], { stdio: "inherit" });
    const pid = await readPid();
    expect(isAlive(pid)).toBe(true);
    parent.kill("SIGKILL");
    await once(parent, "exit");
    await eventually("the end of the orphan", () => !isAlive(pid));
  });
});

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
