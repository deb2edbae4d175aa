// SPDX-License-Identifier: Apache-2.0
/** Each fact that sources and documents cite from docs/upstream stands there, under an anchor. */
import { describe, expect, it } from "@jest/globals";
import { bareIdsIn, citationsIn } from "./citations.ts";
import { readWorkspaceFile, workspaceFiles } from "./workspace-files.ts";

const folder = "docs/upstream/";

/** Files that may cite. The pages themselves refer to their own sections by id alone; this test has ids as examples. */
const citing = workspaceFiles([".ts", ".js", ".mjs", ".md", ".yaml", ".yml", ".tpl", ".sh"]).filter(
  (path) => !path.startsWith(folder) && !path.startsWith("tools/run/src/citations") && !path.endsWith(".gen.ts"),
);

const anchorsOf = new Map(
  workspaceFiles([".md"])
    .filter((path) => path.startsWith(folder))
    .map((path) => [
      path.slice(folder.length),
      new Set([...readWorkspaceFile(path).matchAll(/<a id="([^"]+)"><\/a>/g)].map(([, id]) => id)),
    ]),
);

describe("citations of docs/upstream", () => {
  it("have an anchor", () => {
    const missing = citing.flatMap((path) =>
      citationsIn(readWorkspaceFile(path))
        // A link to the page, or its name in a document, needs no id.
        .filter(({ anchor }) => anchor !== "" || !path.endsWith(".md"))
        .filter(({ page, anchor }) => anchorsOf.get(page)?.has(anchor) !== true)
        .map(({ page, anchor, line }) => `${path}:${line} cites ${page} ${anchor || "without an id"}`),
    );
    expect(missing).toEqual([]);
  });

  it("name the page", () => {
    const bare = citing.flatMap((path) =>
      bareIdsIn(readWorkspaceFile(path)).map(({ id, line }) => `${path}:${line} has ${id} without a page`),
    );
    expect(bare).toEqual([]);
  });
});

describe("citationsIn", () => {
  it.each([
    { text: "(cnis.md 3.1, 3.5)", ids: ["3.1", "3.5"] },
    { text: "(sriov-operator.md B.2-B.4,\n * B.9). A policy", ids: ["B.2", "B.4", "B.9"] },
    { text: "(sriov-operator.md E.2, 5 and E.3)", ids: ["E.2", "E.2-5", "E.3"] },
    { text: "sriov-operator.md F.4, F.6 D; M-30: judged", ids: ["F.4", "F.6-D", "M-30"] },
    { text: "sriov-operator.md C, cnis.md 2.2).", ids: ["C", "2.2"] },
    { text: "eve-and-afxdp.md a5, c", ids: ["a5", "c"] },
    { text: "sriov-operator.md (section D)", ids: [""] },
  ])("reads $text", ({ text, ids }) => {
    expect(citationsIn(text).map(({ anchor }) => anchor)).toEqual(ids);
  });

  it("counts lines", () => {
    expect(citationsIn("one\ntwo cnis.md 5")).toEqual([{ page: "cnis.md", anchor: "5", line: 2 }]);
  });
});

describe("bareIdsIn", () => {
  it("finds ids that follow no page", () => {
    expect(bareIdsIn("/**\n * Lost (M-52).\n * As sriov-operator.md B.5, M-4; then B.10 */")).toEqual([
      { id: "M-52", line: 2 },
      { id: "B.10", line: 3 },
    ]);
  });
});
