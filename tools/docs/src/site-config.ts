// SPDX-License-Identifier: Apache-2.0
/**
 * The configuration of VitePress for the documentation site. docs/.vitepress/config.ts passes it to VitePress.
 * Usage: `const config = siteConfig();`
 */
import { findWorkspaceRoot } from "@switchyard/testing";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join, relative } from "node:path";
import type { UserConfig } from "vitepress";
import { headingId } from "./heading-ids.ts";
import { home, removeIntroduction } from "./home.ts";
import { labelTables } from "./label-tables.ts";
import { navigation, type Titled } from "./navigation.ts";
import { pageOf, siteLink, type Workspace } from "./pages.ts";
import type { SiteTheme } from "./site-theme.ts";
import { searchedText, searchOptions } from "./search.ts";

/** Read by docs/.vitepress/config.ts: it names the version in the menu and where other versions are. */
export const publishedVariable = "SWITCHYARD_DOCS_PUBLISHED";

/** Files that never are pages: packages and their documents. */
const excluded = ["apps/**", "libs/**", "tools/**", "e2e/**", "charts/**", "reports/**", "dist/**", "node_modules/**"];

export function siteConfig(): UserConfig<SiteTheme> {
  const root = findWorkspaceRoot();
  const { version, repository } = readManifest(root);
  const isPublished = process.env[publishedVariable] === "true";
  const workspace: Workspace = {
    repository,
    revision: isPublished ? `v${version}` : "main",
    kindOf: (path) => {
      const stats = statSync(join(root, path), { throwIfNoEntry: false });
      return stats && (stats.isDirectory() ? "folder" : "file");
    },
  };
  return {
    title: "Switchyard",
    description: "Kubernetes operators for SR-IOV and accelerated node networking",
    lang: "en",
    srcDir: root,
    srcExclude: [...excluded, ...rootFiles(root).filter((file) => pageOf(file) === undefined)],
    rewrites: (file) => pageOf(file) ?? file,
    cacheDir: join(root, "dist/.docs-cache"),
    transformHead: ({ siteData }) => [
      ["link", { rel: "icon", type: "image/svg+xml", href: `${siteData.base}logo.svg` }],
    ],
    vite: { publicDir: join(root, "docs/public") },
    markdown: {
      // The default themes have comments and operators with too little contrast.
      theme: { light: "github-light-high-contrast", dark: "github-dark-high-contrast" },
      anchor: { slugify: headingId },
      toc: { slugify: headingId },
      headers: { slugify: headingId, level: [2, 3] },
      config(md) {
        md.core.ruler.push("workspace-links", ({ tokens, env }) => {
          const from = relative(root, sourceOf(env));
          for (const token of tokens) if (token.type === "fence" && token.info === "promql") token.info = "txt"; // unknown to the highlighter
          for (const token of tokens.flatMap(({ children }) => children ?? [])) {
            const link = token.type === "link_open" ? token.attrGet("href") : null;
            if (link !== null) token.attrSet("href", siteLink({ from, link }, workspace));
          }
        });
        md.core.ruler.push("home", ({ tokens, env }) => {
          if (relative(root, sourceOf(env)) === "docs/index.md") removeIntroduction(tokens);
        });
        md.core.ruler.push("tables", ({ tokens }) => {
          labelTables(tokens);
        });
        // Vue would evaluate {{ }}, which stands for Prometheus' templates in our texts.
        for (const kind of ["text", "code_inline"] as const) {
          const render = md.renderer.rules[kind];
          md.renderer.rules[kind] = (...args) => (render?.(...args) ?? "").replaceAll("{{", "&#123;&#123;");
        }
      },
    },
    transformPageData: (page) => (page.relativePath === "index.md" ? { frontmatter: { ...home } } : undefined),
    themeConfig: {
      version: `v${version.split(".").slice(0, 2).join(".")}`,
      isPublished,
      logo: { src: "/logo.svg", alt: "" },
      nav: [
        { text: "Install", link: "/guide/install" },
        { text: "Operate", link: "/guide/operate" },
        { text: "Kinds", link: "/api/", activeMatch: "^/api/" },
        { text: "Reference", link: "/reference/", activeMatch: "^/reference/" },
      ],
      sidebar: navigation(titledPages(root)).map(({ items, ...group }) => ({ ...group, items: [...items] })),
      outline: { level: [2, 3] },
      search: {
        provider: "local",
        options: {
          miniSearch: { searchOptions },
          _render: (source, env, md) => md.render(searchedText(env.relativePath, source), env),
        },
      },
      socialLinks: [{ icon: "github", link: repository, ariaLabel: "Source code on GitHub" }],
      editLink: { pattern: `${repository}/edit/main/:path`, text: "Edit this page" },
      footer: { message: "Apache-2.0" },
    },
  };
}

/** Pages in the order of their files' names. */
function titledPages(root: string): readonly Titled[] {
  const docs = readdirSync(join(root, "docs"), { recursive: true, encoding: "utf8" }).map((file) => `docs/${file}`);
  return [...docs, ...rootFiles(root)]
    .filter((file) => !file.startsWith("docs/.") && file.endsWith(".md"))
    .sort()
    .flatMap((file) => {
      const page = pageOf(file);
      return page === undefined ? [] : [{ page, title: titleOf(readFileSync(join(root, file), "utf8"), file) }];
    });
}

function rootFiles(root: string): readonly string[] {
  return readdirSync(root).filter((file) => file.endsWith(".md"));
}

function titleOf(text: string, file: string): string {
  const [, title] = /^# +(.+)$/m.exec(text) ?? [];
  if (title === undefined) throw new Error(`${file} has no heading "# …"`);
  return title.replaceAll("`", "");
}

/** VitePress passes the rewritten path as `path`, and the file's own as `realPath`, except while it builds the search index. */
function sourceOf(env: unknown): string {
  const { realPath, path } = env as { readonly realPath?: string; readonly path: string };
  return realPath ?? path;
}

function readManifest(root: string): { readonly version: string; readonly repository: string } {
  const manifest: unknown = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const { version, repository } = manifest as {
    readonly version: string;
    readonly repository: { readonly url: string };
  };
  return { version, repository: repository.url.replace(/^git\+/, "").replace(/\.git$/, "") };
}
