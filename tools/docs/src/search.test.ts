// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { findWorkspaceRoot } from "@switchyard/testing";
import MiniSearch from "minisearch";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pageOf } from "./pages.ts";
import { searchedText, searchOptions } from "./search.ts";

/** The index of all pages as the site has it: each section is a document. */
function indexOf(): MiniSearch {
  const root = findWorkspaceRoot();
  const index = new MiniSearch({ fields: ["title", "titles", "text"], storeFields: [], searchOptions });
  for (const file of globSync(["docs/**/*.md", "*.md"], { cwd: root })) {
    const page = pageOf(file);
    if (page === undefined) continue;
    const sections = searchedText(page, readFileSync(join(root, file), "utf8")).split(/^(?=#{1,3} )/m);
    const titles: string[] = [];
    for (const [at, section] of sections.entries()) {
      const [, title] = /^#+ (.*)/.exec(section) ?? [];
      if (title === undefined) continue;
      index.add({ id: `/${page.replace(/\.md$/, ".html")}#${at}`, title, titles: [...titles], text: section });
      if (section.startsWith("# ")) titles.push(title);
    }
  }
  return index;
}

describe("the search of the site", () => {
  const index = indexOf();
  const pagesFor = (words: string) => index.search(words).map(({ id }) => String(id).replace(/#.*/, ""));

  it.each([
    ["vfio", "/guide/tasks/dpdk-vfio.html"],
    ["hugepages", "/guide/tasks/dpdk-vfio.html"],
    ["infiniband", "/guide/tasks/infiniband.html"],
    ["nmstate", "/guide/tasks/externally-managed.html"],
    ["kubevirt", "/guide/tasks/vdpa-kubevirt.html"],
    ["linux bridge", "/guide/tasks/linux-bridge.html"],
  ])("leads from %s to its task", (words, page) => {
    expect(pagesFor(words)[0]).toBe(page);
  });

  it.each(["vfio", "drain", "numvfs", "switchdev"])(
    "finds no page about upstream and none for contributors: %s",
    (words) => {
      const found = pagesFor(words);
      expect(found.length).toBeGreaterThan(3);
      expect(found.filter((page) => /^\/(?:upstream|contributing|decisions)\//.test(page))).toEqual([]);
    },
  );

  it("leaves the output of a recording out, and keeps the text around it", () => {
    const text = "# Demo\n\nWords\n\n```text\nsriov_numvfs\n```\n\nMore\n";
    expect(searchedText("guide/demo.md", text)).toBe("# Demo\n\nWords\n\n\n\nMore\n");
    expect(searchedText("guide/install.md", text)).toBe(text);
    expect(searchedText("upstream/index.md", text)).toBe("");
  });
});
