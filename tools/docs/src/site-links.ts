// SPDX-License-Identifier: Apache-2.0
/**
 * Makes links of documents, which lead to files of the workspace, lead to pages of the site, or to the source code on
 * GitHub for files that are no pages. A link to a file that does not exist fails the build.
 * Usage: `const href = siteLink({ from: "docs/faq.md", link: "operator.md#drain" }, workspace);`
 */
import { linkTarget } from "./pages.ts";

/** What links need to know about the workspace. */
export interface Workspace {
  /** Whether it is a file, a folder, or missing. The path is relative to the workspace's root. */
  readonly kindOf: (path: string) => "file" | "folder" | undefined;
  /** "https://github.com/switchyard/switchyard" */
  readonly repository: string;
  /** Branch or tag whose source code the site describes. */
  readonly revision: string;
}

/** Returns the link's target on the site. Addresses with a scheme and anchors of the same page stay as they are. */
export function siteLink(
  { from, link }: { readonly from: string; readonly link: string },
  { kindOf, repository, revision }: Workspace,
): string {
  if (/^([a-z][a-z\d+.-]*:|\/|#)/i.test(link)) return link;
  const [path = "", ...rest] = link.split("#");
  const anchor = rest.length === 0 ? "" : `#${rest.join("#")}`;
  const target = linkTarget(from, decodeURI(path));
  if (target.kind === "page") return `/${target.page}${anchor}`;
  const kind = kindOf(target.file);
  if (kind === undefined) throw new Error(`${from} links to ${link}, but ${target.file} does not exist`);
  return `${repository}/${kind === "file" ? "blob" : "tree"}/${revision}/${target.file.replace(/\/$/, "")}${anchor}`;
}
