// SPDX-License-Identifier: Apache-2.0
import { expect, it } from "@jest/globals";
import { replaceBlock } from "./readme.ts";

const document = "# A\n\n<!-- one -->\n\n```text\nold\n```\n\n<!-- two -->\n\n```text\n```\n\nend\n";

it("replaces the block behind the comment", () => {
  const changed = replaceBlock(document, "one", "new\n$& lines");
  expect(changed).toBe(document.replace("old", () => "new\n$& lines"));
});

it("fills an empty block", () => {
  expect(replaceBlock(document, "two", "new")).toContain("<!-- two -->\n\n```text\nnew\n```\n\nend\n");
});

it("refuses a document without the block", () => {
  expect(() => replaceBlock(document, "three", "new")).toThrow("<!-- three -->");
});
