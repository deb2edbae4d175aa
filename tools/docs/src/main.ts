// SPDX-License-Identifier: Apache-2.0
/** `npm run docs` serves the documentation site from the sources; `-- build`, `-- check` and `-- publish DIR` write it. */
import { findWorkspaceRoot } from "@switchyard/testing";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { createServer } from "vitepress";
import { buildSite, docsFolder } from "./build-site.ts";
import { checkSite } from "./check-site.ts";
import { siteVersion, writeVersions } from "./publish-site.ts";

const help = `usage: npm run docs                              serve the site from the sources, and follow changes
       npm run docs:build [-- --base PATH]       write it to dist/docs
       npm run docs:check                        build it, then check links, anchors and addresses (offline)
       npm run docs -- publish DIR [--base PATH] add this version to DIR, which has the sites of all versions

  --base PATH  path of the site on its server, or of DIR for "publish"; begins and ends with "/" (default "/")`;

process.exitCode = await main(process.argv.slice(2));

async function main(args: readonly string[]): Promise<number> {
  const command = parse(args);
  if (command === undefined) return 64;
  const { verb, directory, base } = command;
  const outDir = join(findWorkspaceRoot(), "dist/docs");
  switch (verb) {
    case "help":
      console.log(help);
      return 0;
    case "serve": {
      const server = await createServer(docsFolder());
      await server.listen();
      server.printUrls();
      return 0;
    }
    case "build":
      await buildSite({ outDir, base, isPublished: false });
      return 0;
    case "check":
      await buildSite({ outDir, base, isPublished: false });
      return report(await checkSite(outDir, base));
    case "publish": {
      const version = siteVersion(packageVersion());
      const site = { outDir: join(resolve(directory), version), base: `${base}${version}/` };
      await buildSite({ ...site, isPublished: true });
      const status = report(await checkSite(site.outDir, site.base));
      if (status === 0) console.log(`versions: ${(await writeVersions(resolve(directory), version)).join(", ")}`);
      return status;
    }
  }
}

type Verb = "serve" | "build" | "check" | "publish" | "help";

function parse(args: readonly string[]): { verb: Verb; directory: string; base: string } | undefined {
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: { base: { type: "string", default: "/" }, help: { type: "boolean", default: false } },
    });
    const [verb = "serve", directory = "", ...more] = values.help ? ["help"] : positionals;
    if (!isVerb(verb)) throw new Error(`unknown command "${verb}"`);
    if (more.length > 0 || (directory !== "") !== (verb === "publish"))
      throw new Error(`"${verb}" has wrong arguments`);
    if (!/^\/([\w.-]+\/)*$/.test(values.base)) throw new Error(`--base "${values.base}" is not like /switchyard/`);
    return { verb, directory, base: values.base };
  } catch (error) {
    console.error(`docs: ${error instanceof Error ? error.message : String(error)} (see --help)`);
    return undefined;
  }
}

function isVerb(text: string): text is Verb {
  return ["serve", "build", "check", "publish", "help"].includes(text);
}

function report(problems: readonly string[]): number {
  for (const problem of problems) console.error(problem);
  console.log(problems.length === 0 ? "all links lead somewhere" : `${problems.length} problems`);
  return problems.length === 0 ? 0 : 1;
}

function packageVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(join(findWorkspaceRoot(), "package.json"), "utf8"));
  return (manifest as { readonly version: string }).version;
}
