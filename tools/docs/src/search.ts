// SPDX-License-Identifier: Apache-2.0
/**
 * What the search of the site finds: pages for users, the tasks first. Facts about other projects, pages for contributors and
 * the outputs of commands contain the same words and would hide these pages.
 * Usage: `searchedText("guide/demo.md", source)` is the Markdown that is indexed, "" for a page that is left out.
 */

/** Pages below these folders are not indexed. */
const leftOut = ["upstream/", "contributing/", "decisions/", "project/code-of-conduct"];

/** Recordings of whole runs, whose output has each word of the product. */
const recordings = ["guide/demo.md"];

const outputBlock = /^```text\n[^]*?^```$/gm;

/** The part of a page that is indexed. `page` is its path on the site: "guide/tasks/dpdk-vfio.md". */
export function searchedText(page: string, source: string): string {
  if (leftOut.some((prefix) => page.startsWith(prefix))) return "";
  return recordings.includes(page) ? source.replaceAll(outputBlock, "") : source;
}

/**
 * The weight of a section among the results. `id` is the address of the section: "/v0.1/guide/tasks/dpdk-vfio.html#manifests".
 * The browser gets the text of this function, so it uses nothing from outside.
 */
function searchWeight(id: string): number {
  if (id.includes("/guide/tasks/")) return 6;
  if (/\/guide\/demo(?:\.html)?(?:#|$)/.test(id)) return 0.5;
  if (id.includes("/guide/")) return 2;
  return id.includes("/project/") ? 0.5 : 1;
}

/** Options of MiniSearch, which VitePress passes to the browser. A word in a title counts more than one in a text. */
export const searchOptions = {
  fuzzy: 0.2,
  prefix: true,
  boost: { title: 4, text: 2, titles: 1 },
  boostDocument: searchWeight,
};
