// SPDX-License-Identifier: Apache-2.0
/**
 * Builds the documentation site from docs/.
 * Usage: `const problems = await buildSite({ outDir: "/tmp/site", base: "/", isPublished: false }).then(() => []);`
 */
import { findWorkspaceRoot } from "@switchyard/testing";
import { join } from "node:path";
import { build } from "vitepress";
import { publishedVariable } from "./site-config.ts";

export interface SiteOptions {
  /** An absolute path. Its former content is deleted. */
  readonly outDir: string;
  /** Path under which a server serves the site: "/" or "/switchyard/v0.1/". */
  readonly base: string;
  /** Whether other versions are beside it; links to source code then lead to the release's tag. */
  readonly isPublished: boolean;
}

/** Rejects if a link leads to a page or file that does not exist. */
export async function buildSite({ outDir, base, isPublished }: SiteOptions): Promise<void> {
  process.env[publishedVariable] = String(isPublished); // VitePress loads the configuration itself
  await build(docsFolder(), { outDir, base });
}

/** The folder that VitePress calls the root. */
export function docsFolder(): string {
  return join(findWorkspaceRoot(), "docs");
}
