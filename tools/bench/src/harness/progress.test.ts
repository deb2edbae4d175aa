// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { startProgress } from "./progress.ts";

describe("startProgress", () => {
  it("prints a step at once, and then its detail until the next step", async () => {
    const lines: string[] = [];
    const told = Promise.withResolvers<undefined>();
    const write = (line: string) => {
      lines.push(line);
      if (line.includes("7 of 9")) told.resolve(undefined);
    };
    using progress = startProgress({ write, everyMs: 1 });
    progress.at("first policy", () => "7 of 9 nodes");
    expect(lines).toEqual(["first policy"]);
    await told.promise;
    expect(lines.at(-1)).toMatch(/^first policy: \d+ s, 7 of 9 nodes$/);
    progress.at("restart");
    expect(lines.at(-1)).toBe("restart");
  });
});
