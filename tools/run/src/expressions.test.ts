// SPDX-License-Identifier: Apache-2.0
/**
 * Each regular expression of the product takes time in proportion to its input, by recheck, or its input is short. The result for all
 * expressions takes two minutes, so checked-expressions.json has those that were checked; only others are checked here. With
 * SWITCHYARD_CHECK_ALL=1, as before a release, all are.
 */
import { beforeAll, describe, expect, it } from "@jest/globals";
import { expressionsIn, findExpressions, type Expression } from "./expressions.ts";
import { readWorkspaceFile } from "./workspace-files.ts";

/** Expressions that are not linear, or about which recheck comes to no result, with what limits their input. */
const bounded: Readonly<Record<string, string>> = {
  "/[-.]+$/": "63 characters of the name of a pod",
  "/[.-]+$/": "230 characters of the name of a node",
  "/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g": "linear: each start reads up to the next hyphen",
  "/.*\\//": "the name of a network in the API server",
  "/^\\s*linux(?:16|efi)?\\s+(\\S+)(.*)$/": "one line; the rest of a line always matches",
  "/^Configurations:\\s+(.*)$/": "one line; the rest of a line always matches",
  '/"((?:[^"\\\\]|\\\\.)*)"/g': "a header of a response, at most 16 KiB",
  "/^[^a-z0-9]+|[^a-z0-9]+$/g": "the name of a MachineConfigPool in the API server",
  "/:v?(\\d{1,5})\\.(\\d{1,5})(?:[.@-][^/]*)?$/": "the name of an image in the operator's flags",
  "/[^a-z0-9]+$/": "the name of a pool, cut at the length of a label",
};

let expressions: readonly Expression[];
let check: (source: string, flags: string) => string;

beforeAll(async () => {
  expressions = findExpressions();
  process.env["RECHECK_BACKEND"] = "pure"; // the other backends are programs in packages that an installation may lack
  const { checkSync } = await import("recheck");
  check = (source, flags) => checkSync(source, flags, { timeout: 20_000 }).status;
}, 60_000);

function verdict(literal: string): string {
  const end = literal.lastIndexOf("/");
  return check(literal.slice(1, end), literal.slice(end + 1));
}

describe("the regular expressions of the product", () => {
  it("take time in proportion to their input, or their input is short", () => {
    const checked: unknown = JSON.parse(readWorkspaceFile("tools/run/src/checked-expressions.json"));
    if (!Array.isArray(checked)) throw new TypeError("checked-expressions.json is not a list");
    const known = new Set(process.env["SWITCHYARD_CHECK_ALL"] === "1" ? [] : checked.map(String));
    const due = expressions.filter(({ literal }) => !known.has(literal) && !Object.hasOwn(bounded, literal));
    const problems = due.flatMap(({ literal, file }) => {
      const status = verdict(literal);
      return status === "safe" ? [] : [`${file}: ${literal} is ${status}`];
    });
    expect(problems).toEqual([]);
    expect(expressions.length).toBeGreaterThan(100);
  }, 300_000);

  it("are found, and the check refuses the one that made doctor hang for hours", () => {
    expect(expressionsIn('const a = 1 / 2; text.replace(/\\s*\\n\\s*/g, " ").match(/^a$/u);')).toEqual([
      "/\\s*\\n\\s*/g",
      "/^a$/u",
    ]);
    expect([verdict("/\\s*\\n\\s*/g"), verdict("/^a$/u")]).toEqual(["vulnerable", "safe"]);
  }, 60_000);

  it("have a reason for each exception, which is in use", () => {
    const literals = new Set(expressions.map(({ literal }) => literal));
    expect(Object.keys(bounded).filter((literal) => !literals.has(literal))).toEqual([]);
  });
});
