// SPDX-License-Identifier: Apache-2.0
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { takePluginLock } from "./plugin-lock.ts";

describe("takePluginLock", () => {
  const program = "the DRA driver";
  let directory = "";
  let path = "";
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), "plugin-lock-"));
    path = join(directory, "state", "pools.json.lock");
  });
  afterEach(() => {
    rmSync(directory, { recursive: true });
  });

  it("makes a second process wait until the first one ends, and says so once", async () => {
    const { signal } = new AbortController();
    const reasons: string[] = [];
    const onWaiting = (reason: string) => {
      reasons.push(reason);
      if (reasons.length === 1) void first[Symbol.asyncDispose]();
    };
    const first = await takePluginLock(path, { program, onWaiting, signal });
    await using _second = await takePluginLock(path, { program, onWaiting, signal });
    expect(reasons).toEqual([`another process of the DRA driver runs on this node: it has the lock of ${path}`]);
  });

  it("waits while the file cannot be opened, and until the signal aborts", async () => {
    mkdirSync(path, { recursive: true });
    const end = new AbortController();
    const reasons: string[] = [];
    const onWaiting = (reason: string) => {
      reasons.push(reason);
      end.abort(new Error("the process ends"));
    };
    await expect(takePluginLock(path, { program, onWaiting, signal: end.signal })).rejects.toThrow("the process ends");
    expect(reasons).toEqual([expect.stringMatching(/^take the lock of .*EISDIR/)]);
  });
});
