// SPDX-License-Identifier: Apache-2.0
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { existsSync } from "node:fs";
import { mkdtemp, rm, stat, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { eventually } from "../eventually.ts";
import { withFileLock } from "./file-lock.ts";

describe("withFileLock", () => {
  let directory: string;
  let path: string;
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), "file-lock-"));
    path = join(directory, "lock");
  });
  afterEach(() => rm(directory, { recursive: true }));

  it("runs one work at a time and the next one after a failure", async () => {
    const seen: string[] = [];
    const enter = (name: string) =>
      withFileLock(path, {}, async () => {
        seen.push(`${name} in`);
        await new Promise(setImmediate);
        seen.push(`${name} out`);
        throw new Error(name);
      });
    await Promise.allSettled([enter("a"), enter("b")]);
    expect([seen.slice(0, 2), seen.slice(2)].toSorted()).toEqual([
      ["a in", "a out"],
      ["b in", "b out"],
    ]);
    expect(existsSync(path)).toBe(false);
  });

  it("reports that it waits and takes over the lock of a dead process", async () => {
    const longAgo = new Date(Date.now() - 60_000);
    await writeFile(path, "1\n");
    await utimes(path, longAgo, longAgo);
    let waits = 0;
    const onWait = () => {
      waits += 1;
    };
    expect(await withFileLock(path, { onWait }, () => Promise.resolve("done"))).toBe("done");
    expect(waits).toBe(1);
  });

  it("touches its lock while the work runs", async () => {
    const staleMs = 1_000;
    const seen: string[] = [];
    let second: Promise<void> | undefined;
    await withFileLock(path, { staleMs }, async () => {
      const { mtimeMs: takenMs } = await stat(path);
      second = withFileLock(path, { staleMs }, () => Promise.resolve(void seen.push("second")));
      await eventually("a lock that would be stale by now", async () => (await stat(path)).mtimeMs > takenMs + staleMs);
      seen.push("first");
    });
    await second;
    expect(seen).toEqual(["first", "second"]);
  });
});
