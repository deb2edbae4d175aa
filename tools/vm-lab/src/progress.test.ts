// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { createProgress } from "./progress.ts";

describe("createProgress", () => {
  it("prints the duration of a step until it is done", async () => {
    let clockMs = 1000;
    const said: string[] = [];
    const thirdLine = Promise.withResolvers<undefined>();
    const progress = createProgress({
      write: (text) => {
        said.push(text);
        if (said.length === 3) thirdLine.resolve(undefined);
      },
      nowMs: () => (clockMs += 1500),
      everyMs: 1,
    });
    const result = await progress.during("kernel", async () => {
      await thirdLine.promise;
      return "built";
    });
    expect(result).toBe("built");
    expect(said.slice(0, 3)).toEqual([
      "[vm-lab] kernel ...\n",
      "[vm-lab] kernel ... 1.5 s\n",
      "[vm-lab] kernel ... 3.0 s\n",
    ]);
    expect(said.at(-1)).toMatch(/^\[vm-lab\] kernel: done in \d+\.\d s\n$/);
  });

  it("does not print that a failed step is done", async () => {
    const said: string[] = [];
    const progress = createProgress({ write: (text) => said.push(text) });
    await expect(progress.during("kernel", () => Promise.reject(new Error("no space")))).rejects.toThrow("no space");
    expect(said).toEqual(["[vm-lab] kernel ...\n"]);
  });
});
