// SPDX-License-Identifier: Apache-2.0
/**
 * Which Markdown files are pages of the site, and where. Files stay where GitHub's readers expect them: all of docs/, and
 * the project's documents in the root of the workspace.
 */
import { posix } from "node:path";

/**
 * Makes links of documents, which lead to files of the workspace, lead to pages of the site, or to the source code on
 * GitHub for files that are no pages. A link to a file that does not exist fails the build.
 * What links need to know about the workspace.
 */
export interface Workspace {
  /** Whether it is a file, a folder, or missing. The path is relative to the workspace's root. */
  readonly kindOf: (path: string) => "file" | "folder" | undefined;
  /** "https://github.com/switchyard/switchyard" */
  readonly repository: string;
  /** Branch or tag whose source code the site describes. */
  readonly revision: string;
}

/** Documents in the root -> pages. The README's readers are on GitHub; on the site, the home page takes its place. */
const rootPages: Readonly<Record<string, string>> = {
  "CHANGELOG.md": "project/changelog.md",
  "CODE_OF_CONDUCT.md": "project/code-of-conduct.md",
  "CONTRIBUTING.md": "contributing/index.md",
  "SECURITY.md": "project/security-policy.md",
  "SUPPORT.md": "project/support.md",
  "VERSIONING.md": "project/versioning.md",
};

/** Files that are no pages, but have a page that says the same. */
const standIns: Readonly<Record<string, string>> = { "README.md": "index.md" };

/** Returns the page for a file of the workspace, as a path from the site's root, or undefined if it is no page. */
export function pageOf(file: string): string | undefined {
  if (file.startsWith("docs/") && file.endsWith(".md")) {
    return file.slice("docs/".length).replace(/(^|\/)README\.md$/, "$1index.md");
  }
  return rootPages[file];
}

/** Where a link leads. */
export type LinkTarget =
  | { readonly kind: "page"; readonly page: string }
  /** A file or folder of the workspace that the site does not have. */
  | { readonly kind: "file"; readonly file: string };

/** Resolves a relative link of the file `from`. Both are paths from the workspace's root. */
function linkTarget(from: string, link: string): LinkTarget {
  const file = posix.join(posix.dirname(from), link);
  const page = pageOf(file) ?? standIns[file];
  return page === undefined ? { kind: "file", file } : { kind: "page", page };
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
