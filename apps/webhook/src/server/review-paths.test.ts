// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { eventually } from "@switchyard/testing";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { followReviewPaths } from "./review-paths.ts";

const secret = (letter: string) => letter.repeat(32);

describe("followReviewPaths", () => {
  it("accepts the path of the environment, and no open path any longer once an API server uses it", async () => {
    let now = 0;
    const options = { file: "/nowhere", intervalMs: 60_000, nowMs: () => now };
    await using paths = await followReviewPaths({ ...options, secretPath: secret("a") });
    now = 3_600_000; // the rollout of the other pods takes an hour
    expect([paths.accepts(""), paths.accepts(secret("b")), paths.accepts("")]).toEqual([true, false, true]);
    expect(paths.accepts(secret("a"))).toBe(true);
    now += 59_000;
    expect([paths.accepts(""), paths.accepts(secret("a"))]).toEqual([true, true]);
    now += 2_000;
    expect([paths.accepts(""), paths.accepts(secret("a"))]).toEqual([false, true]);
    await using wrong = await followReviewPaths({ ...options, secretPath: "../x" });
    expect([wrong.accepts(""), wrong.accepts("../x")]).toEqual([true, false]);
  });

  it("accepts the paths of the file, and former secret paths while the process runs", async () => {
    const directory = await mkdtemp(join(tmpdir(), "switchyard-review-paths-"));
    const file = join(directory, "review-paths");
    const accepted = (paths: Awaited<ReturnType<typeof followReviewPaths>>) =>
      ["", ...["a", "b", "c", "d"].map(secret)].filter((path) => paths.accepts(path)).map((path) => path.slice(0, 1));
    try {
      await using paths = await followReviewPaths({ file, intervalMs: 10 });
      expect(accepted(paths)).toEqual([""]);
      await writeFile(file, `\n${secret("a")}\n`); // the open path is registered, and the next one announced
      await eventually("the announced path", () => paths.accepts(secret("a")));
      expect(accepted(paths)).toEqual(["", "a"]);
      await writeFile(file, `${secret("b")}\n${secret("c")}\n`);
      await eventually("the next paths", () => paths.accepts(secret("c")));
      expect(accepted(paths)).toEqual(["a", "b", "c"]);
      await using restarted = await followReviewPaths({ file, intervalMs: 60_000 });
      expect(accepted(restarted)).toEqual(["b", "c"]);
    } finally {
      await rm(directory, { recursive: true });
    }
  });
});
