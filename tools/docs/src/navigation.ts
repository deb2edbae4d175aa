// SPDX-License-Identifier: Apache-2.0
/**
 * The side bar: pages by subject. A page that no group names appears at the end of its folder's group, so that a new
 * document is on the site without further work.
 */

/** A page and its first heading. */
export interface Titled {
  readonly page: string;
  readonly title: string;
}

/** A group of the side bar. */
export interface Group {
  readonly text: string;
  readonly collapsed?: boolean;
  readonly items: readonly { readonly text: string; readonly link: string }[];
}

/** Page -> text in the side bar, which may be shorter than the page's title. Undefined: the title. */
type Entries = readonly (readonly [page: string, text?: string])[];

const groups: readonly {
  readonly text: string;
  readonly collapsed?: boolean;
  readonly entries: Entries;
  /** Folders whose other pages belong to the group, in the order of their names. "" is docs/ itself. */
  readonly folders: readonly string[];
}[] = [
  {
    text: "Get started",
    entries: [
      ["guide/install.md"],
      ["guide/upgrade.md", "Upgrade from the Go operator"],
      ["guide/demo.md", "Demo"],
      ["faq.md"],
    ],
    folders: [],
  },
  {
    text: "Tasks",
    entries: [["guide/tasks/index.md", "All tasks"], ["guide/tasks/dpdk-vfio.md"], ["guide/tasks/rdma-nvidia.md"]],
    folders: ["guide/tasks"],
  },
  {
    text: "Operate",
    entries: [
      ["guide/operate.md"],
      ["guide/monitoring.md"],
      ["guide/doctor.md"],
      ["guide/verify.md"],
      ["guide/drain.md"],
      ["guide/ovn-offload.md"],
      ["operator.md"],
      ["operator-commands.md"],
      ["webhook.md"],
      ["cli.md"],
      ["eve-bridge.md"],
      ["security.md"],
    ],
    folders: ["guide"],
  },
  {
    text: "Nodes",
    entries: [["guide/node.md", "What the daemon does"], ["guide/node/undo.md"]],
    folders: ["guide/node"],
  },
  { text: "Kinds", entries: [["api/index.md", "All kinds"]], folders: ["api"] },
  {
    text: "Reference",
    entries: [["reference/index.md", "Overview"]],
    folders: ["reference"],
  },
  {
    text: "Alerts",
    collapsed: true,
    entries: [],
    folders: ["reference/alerts"],
  },
  {
    text: "Project",
    entries: [["status.md"], ["differences.md"], ["project/changelog.md"], ["project/versioning.md"]],
    folders: ["", "project"],
  },
  {
    text: "Contribute",
    collapsed: true,
    entries: [["contributing/index.md"], ["contributing/architecture.md"]],
    folders: ["contributing"],
  },
  {
    text: "Decisions",
    collapsed: true,
    entries: [["decisions/index.md", "All decisions"]],
    folders: ["decisions"],
  },
  {
    text: "Facts about upstream",
    collapsed: true,
    entries: [["upstream/index.md", "Overview"]],
    folders: ["upstream"],
  },
];

/** Entries of pages that others name are known before the rest is divided by folders. */
const named = new Set(groups.flatMap(({ entries }) => entries.map(([page]) => page)).concat("index.md"));

/** Returns the groups of the side bar for these pages. Throws if a group names a page that does not exist. */
export function navigation(pages: readonly Titled[]): readonly Group[] {
  const titles = new Map(pages.map(({ page, title }) => [page, title]));
  const others = pages.filter(({ page }) => !named.has(page));
  const built = groups.map(({ text, collapsed, entries, folders }) => ({
    text,
    ...(collapsed !== undefined && { collapsed }),
    items: [
      ...entries.map(([page, short]) => ({ text: short ?? titleOf(page), link: linkOf(page) })),
      ...others
        .filter(({ page }) => folders.includes(folderOf(page)))
        .map(({ page, title }) => ({ text: title, link: linkOf(page) })),
    ],
  }));
  const shown = new Set(built.flatMap(({ items }) => items.map(({ link }) => link)));
  const missing = others.find(({ page }) => !shown.has(linkOf(page)));
  if (missing === undefined) return built;
  throw new Error(`no group of the side bar has the folder of ${missing.page}; add it to tools/docs/src/navigation.ts`);

  function titleOf(page: string): string {
    const title = titles.get(page);
    if (title !== undefined) return title;
    throw new Error(`the side bar names ${page}, which does not exist; correct tools/docs/src/navigation.ts`);
  }
}

function folderOf(page: string): string {
  return page.includes("/") ? page.slice(0, page.lastIndexOf("/")) : "";
}

/** The address of a page on the site: "/api/" for "api/index.md". */
function linkOf(page: string): string {
  return `/${page.replace(/(^|\/)index\.md$/, "$1").replace(/\.md$/, "")}`;
}
