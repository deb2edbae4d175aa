// SPDX-License-Identifier: Apache-2.0
/** buildCli bundles the command line into one file, which runs without any package. */
import { build } from "esbuild";
import { chmod, copyFile, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ReleaseError } from "../release-error.ts";

/** The oldest Node.js on which the bundle runs: undici, which reads clusters through kubeconfigs, needs it. */
export const oldestNode = { major: 22, minor: 19 } as const;

/** The program's name in the package. */
export const cliFile = "switchyard.mjs";

/** Files of the package besides the program. */
const licenceFiles = { own: "LICENSE", others: "THIRD_PARTY_LICENSES" } as const;

/** The imports of an ES module are evaluated before its body, but they are all Node's own. */
const banner = [
  "#!/usr/bin/env node",
  "// SPDX-License-Identifier: Apache-2.0",
  'import{createRequire as __require}from"node:module";',
  "{const [__major,__minor]=process.versions.node.split('.').map(Number);",
  `if(__major<${oldestNode.major}||(__major===${oldestNode.major}&&__minor<${oldestNode.minor})){`,
  `console.error("switchyard: requires Node.js ${oldestNode.major}.${oldestNode.minor} or later, not "+process.version);`,
  "process.exit(1)}}",
  "const require=__require(import.meta.url);",
].join("\n");

/** Writes the program and the licences into `directory`, and returns the names of the files. */
export async function buildCli(root: string, directory: string): Promise<readonly string[]> {
  await mkdir(directory, { recursive: true });
  const program = join(directory, cliFile);
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: ["apps/cli/src/main.ts"],
    outfile: program,
    bundle: true,
    minify: true,
    keepNames: true, // names of errors
    platform: "node",
    format: "esm",
    target: `node${oldestNode.major}`,
    legalComments: "none", // THIRD_PARTY_LICENSES has them
    banner: { js: banner },
    metafile: true,
    logLevel: "warning",
  });
  await chmod(program, 0o755);
  await copyFile(join(root, "LICENSE"), join(directory, licenceFiles.own));
  const others = await thirdPartyLicences(root, Object.keys(metafile.inputs));
  await writeFile(join(directory, licenceFiles.others), others);
  return [cliFile, ...Object.values(licenceFiles)];
}

/**
 * thirdPartyLicences collects the licence texts of the packages that a bundle contains, from esbuild's list of inputs.
 * `inputs` are paths from the workspace. Rejects if a package has no licence, neither as a file nor by its name.
 */
export async function thirdPartyLicences(root: string, inputs: readonly string[]): Promise<string> {
  const packages = new Set(inputs.map(packageOf).filter((directory) => directory !== undefined));
  const texts = await Promise.all([...packages].sort().map((directory) => licenceOf(join(root, directory))));
  return texts.join(`\n${"-".repeat(80)}\n\n`);
}

/** "node_modules/a/node_modules/@b/c/x.js" is in "node_modules/a/node_modules/@b/c". */
function packageOf(input: string): string | undefined {
  return /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(input)?.[0];
}

async function licenceOf(directory: string): Promise<string> {
  const manifest = JSON.parse(await readFile(join(directory, "package.json"), "utf8")) as Readonly<
    Record<"name" | "version" | "license", string | undefined>
  >;
  const file = (await readdir(directory)).find((name) => /^licen[cs]e(?:[.-]|$)/i.test(name));
  const title = `${manifest.name ?? directory} ${manifest.version ?? ""} (${manifest.license ?? "see below"})`;
  if (file !== undefined) return `${title}\n\n${(await readFile(join(directory, file), "utf8")).trim()}\n`;
  if (manifest.license === undefined) throw new ReleaseError("failed", `${directory} does not state its licence`);
  return `${title}\n`;
}
