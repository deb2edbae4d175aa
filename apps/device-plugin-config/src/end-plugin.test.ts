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
  it("sends SIGTERM to the process with this name, and to no other", async () => {
    await using plugin = await startProgram("dp-under-test");
    await using other = await startProgram("dp-under-tests");
    const ended = once(plugin.program, "exit");
    expect(await endPlugin("dp-under-test")).toEqual([plugin.program.pid]);
    expect(await ended).toEqual([null, "SIGTERM"]);
    expect(other.program.exitCode).toBeNull();
  });

  it("finds processes whose name is longer than the kernel stores", async () => {
    await using plugin = await startProgram("device-plugin-under-test");
    expect(await endPlugin("device-plugin-under-test")).toEqual([plugin.program.pid]);
  });

  it("returns nothing if no such process runs", async () => {
    expect(await endPlugin("nobody-is-so")).toEqual([]);
  });
});
