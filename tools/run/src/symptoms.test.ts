// SPDX-License-Identifier: Apache-2.0
/** The table of symptoms in docs/contributing/architecture.md leads to files that have the quoted texts. */
import { describe, expect, it } from "@jest/globals";
import { existsSync } from "node:fs";
import { readWorkspaceFile, workspacePath } from "./workspace-files.ts";

/** Message or symptom, `text`, `file`. */
const rows = [
  ...readWorkspaceFile("docs/contributing/architecture.md").matchAll(/^\|(.+)\| `(.+)` +\| `(.+)` +\|$/gm),
].map(([, symptom = "", text = "", file = ""]) => ({ symptom: symptom.trim(), text, file }));

describe("the table of symptoms", () => {
  it("has at least twenty rows", () => {
    expect(rows.length).toBeGreaterThanOrEqual(20);
  });

  it.each(rows)("leads from $symptom to $file", ({ text, file }) => {
    expect([file, existsSync(workspacePath(file))]).toEqual([file, true]);
    expect([text, readWorkspaceFile(file).includes(text)]).toEqual([text, true]);
  });
});
