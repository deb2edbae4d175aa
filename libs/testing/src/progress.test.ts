// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { createProgress } from "./progress.ts";

describe("createProgress", () => {
  it("prints the duration of a step until it is done", async () => {
    let clockMs = 1000;
    const said: string[] = [];
    const thirdLine = Promise.withResolvers<undefined>();
    const progress = createProgress({
      name: "vm-lab",
      write: (line) => {
        said.push(line);
        if (said.length === 3) thirdLine.resolve(undefined);
      },
      nowMs: () => (clockMs += 1500),
      everyMs: 1,
    });
    const result = await progress.during(
      "kernel",
      async () => {
        await thirdLine.promise;
        return "built";
      },
      () => (clockMs > 3000 ? "linking" : undefined),
    );
    expect(result).toBe("built");
    expect(said.slice(0, 3)).toEqual(["[vm-lab] kernel", "[vm-lab] kernel: 2 s", "[vm-lab] kernel: 3 s, linking"]);
    expect(said.at(-1)).toMatch(/^\[vm-lab\] kernel: done in \d+\.\d s$/);
  });

  it("does not print that a failed step is done", async () => {
    const said: string[] = [];
    const progress = createProgress({ write: (line) => said.push(line) });
    await expect(progress.during("kernel", () => Promise.reject(new Error("no space")))).rejects.toThrow("no space");
    expect(said).toEqual(["kernel"]);
  });

  it("prints a step at once, and then its detail until the next step", async () => {
    const lines: string[] = [];
    const told = Promise.withResolvers<undefined>();
    const write = (line: string) => {
      lines.push(line);
      if (line.includes("7 of 9")) told.resolve(undefined);
    };
    using progress = createProgress({ write, everyMs: 1 });
    progress.at("first policy", () => "7 of 9 nodes");
    expect(lines).toEqual(["first policy"]);
    await told.promise;
    expect(lines.at(-1)).toMatch(/^first policy: \d+ s, 7 of 9 nodes$/);
    progress.at("restart");
    expect(lines.at(-1)).toBe("restart");
  });
});
