// SPDX-License-Identifier: Apache-2.0
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createMeasuredService } from "./service.ts";

const never = new AbortController().signal;
let directory = "";
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "bench-service-"));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

/** A service that prints its argument, is ready at once, and ends on SIGTERM. */
const service = `
  const server = require("node:http").createServer((request, response) => response.end()).listen(0, "127.0.0.1", () => {
    console.error(JSON.stringify({ level: "info", healthPort: server.address().port, flags: process.argv.slice(2) }));
    console.error(JSON.stringify({ level: "warn", msg: "a complaint" }));
  });
`;

async function createService(source: string, fail: (error: Error) => void) {
  const script = join(directory, "service.cjs");
  await writeFile(script, source);
  return createMeasuredService({ script, args: ["--x"], log: join(directory, "log"), fail });
}

describe("createMeasuredService", () => {
  it("measures the service's process over restarts, and collects the warnings in its log", async () => {
    const errors: Error[] = [];
    await using running = await createService(service, (error) => errors.push(error));
    await running.start(never);
    expect(running.read().rssMb).toBeGreaterThan(20);
    await running.start(never);
    await running.stop();
    expect(running.stopSeconds).toHaveLength(2);
    expect(running.complaints()).toEqual([
      expect.stringContaining("a complaint"),
      expect.stringContaining("a complaint"),
    ]);
    expect(() => running.read()).toThrow(expect.objectContaining({ code: "ended" }));
    expect(errors).toEqual([]);
  });

  it("fails the run with the end of the service's log if the service ends unexpectedly", async () => {
    const run = new AbortController();
    await using broken = await createService('console.error("no cluster"); process.exit(3)', (error) => {
      run.abort(error);
    });
    await expect(broken.start(run.signal)).rejects.toMatchObject({
      code: "ended",
      message: expect.stringMatching(/ended with 3; the end of its log:\nno cluster/),
    });
  });
});
