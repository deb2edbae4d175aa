// SPDX-License-Identifier: Apache-2.0
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { findWorkspaceRoot } from "@switchyard/testing";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { spawnKept, type KeptProcess } from "./kept-process.ts";

const name = "kept-process-test";
const kept = join(findWorkspaceRoot(), "reports/logs", `${name}.log`);
let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "switchyard-kept-"));
});

afterAll(async () => {
  await rm(kept, { force: true });
  await rm(directory, { recursive: true });
});

function run(program: string): KeptProcess {
  return spawnKept(["--eval", program], { log: join(directory, "program.log"), name });
}

describe("spawnKept", () => {
  it("reports an unexpected exit with the last lines of the log, and keeps the log", async () => {
    const ended = run('console.error("there is no such flag"); process.exitCode = 64;');
    await ended.exited;
    await expect(ended.mustBeAlive()).rejects.toThrow("exit status 64:\nthere is no such flag");
    await ended.kill();
    expect(await readFile(kept, "utf8")).toBe("there is no such flag\n");
  });

  it("reports nothing if the program runs or was terminated", async () => {
    const killed = run("setInterval(() => undefined, 1_000)");
    await killed.mustBeAlive();
    await killed.kill();
    await killed.mustBeAlive();
    const terminated = run("setInterval(() => undefined, 1_000)");
    terminated.signal("TERM");
    await terminated.exited;
    await terminated.mustBeAlive();
  });
});
