// SPDX-License-Identifier: Apache-2.0
/** Links between documents lead somewhere, and so do the names of documents in comments. */
import { describe, expect, it } from "@jest/globals";
import { existsSync } from "node:fs";
import { posix } from "node:path";
import { anchorsIn, linksIn } from "./links.ts";
import { readWorkspaceFile, workspaceFiles, workspacePath } from "./workspace-files.ts";

const documents = workspaceFiles([".md"]);

describe("links of documents", () => {
  it("lead to files and headings that exist", () => {
    const broken = documents.flatMap((from) =>
      linksIn(readWorkspaceFile(from))
        .filter((link) => !leadsSomewhere(from, link))
        .map(({ path, anchor, line }) => `${from}:${line} ${path}${anchor === "" ? "" : `#${anchor}`}`),
    );
    expect(broken).toEqual([]);
  });

  function leadsSomewhere(from: string, { path, anchor }: { readonly path: string; readonly anchor: string }): boolean {
    const to = path === "" ? from : posix.join(posix.dirname(from), path);
    if (!existsSync(workspacePath(to))) return false;
    return anchor === "" || !to.endsWith(".md") || anchorsIn(readWorkspaceFile(to)).has(anchor);
  }
});

describe("the README", () => {
  it("has at most one hundred lines", () => {
    expect(readWorkspaceFile("README.md").trimEnd().split("\n").length).toBeLessThanOrEqual(100);
  });
});

describe("documents that comments name", () => {
  it("exist", () => {
    const missing = workspaceFiles([".ts", ".js", ".mjs", ".yaml", ".yml", ".tpl"])
      // The tests of documents have names as examples. Behind a quotation mark and in a link a name is data.
      .filter((path) => !path.startsWith("tools/run/src/"))
      .flatMap((path) =>
        [...readWorkspaceFile(path).matchAll(/(?<![\w./$}"'`-]|\]\()[\w./-]*\w\.md\b/g)]
          .filter(([name]) => !documents.some((known) => known === name || known.endsWith(`/${posix.basename(name)}`)))
          .map(([name]) => `${path} names ${name}`),
      );
    expect(missing).toEqual([]);
  });
});

describe("files that documents name", () => {
  it("exist", () => {
    const missing = documents
      // The changelog is history.
      .filter((path) => path !== "CHANGELOG.md")
      .flatMap((path) =>
        [...readWorkspaceFile(path).matchAll(/`((?:apps|libs|tools|e2e|docs|charts)\/[\w./-]+)`/g)]
          .map(([, name = ""]) => name)
          .filter((name) => !existsSync(workspacePath(name)))
          .map((name) => `${path} names ${name}`),
      );
    expect(missing).toEqual([]);
  });
});

describe("linksIn", () => {
  it("reads targets with their lines", () => {
    expect(linksIn("see\n[it](a/b.md#c-d) and ![](x.svg), [here](#e)")).toEqual([
      { path: "a/b.md", anchor: "c-d", line: 2 },
      { path: "x.svg", anchor: "", line: 2 },
      { path: "", anchor: "e", line: 2 },
    ]);
  });

  it("leaves out code and addresses", () => {
    expect(linksIn("`[a](b)` [c](https://d.example)\n```\n[e](f)\n```\n")).toEqual([]);
  });
});

describe("anchorsIn", () => {
  it("names headings as GitHub does", () => {
    const text = '# One `two`, three!\n## A/B\n## A/B\n<a id="A-1"></a>\n```\n# no\n```\n';
    expect([...anchorsIn(text)]).toEqual(["one-two-three", "ab", "ab-1", "A-1"]);
  });
});
