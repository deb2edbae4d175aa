// SPDX-License-Identifier: Apache-2.0
/**
 * buildHeadlampPlugin packs the plugin for Headlamp: an archive with the directory `switchyard`, as Headlamp expects it in its
 * directory of plugins.
 */
import { build } from "esbuild";
import { copyFile, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { sourceEpoch, writeArchive } from "../archive.ts";
import { thirdPartyLicences } from "../cli/build-cli.ts";
import { requireFlag, type Verb } from "../command-line.ts";
import { readVersion, repositoryUrl } from "../version/product-version.ts";

/** `npm run release -- headlamp` makes the plugin for Headlamp. */
export const headlamp: Verb = {
  summary: "make the plugin for Headlamp",
  operands: "",
  flags: { output: { value: "DIR", summary: "directory of the archive" } },
  run: async (input) => {
    const { root, env, print } = input;
    const options = { output: requireFlag(input, "output"), epoch: await sourceEpoch(root, env) };
    const { archive, sha256 } = await buildHeadlampPlugin(root, options);
    print(`${archive} sha256:${sha256}`);
  },
};

export interface HeadlampPluginOptions {
  /** Directory of the archive. */
  readonly output: string;
  /** Time of all files, in seconds since 1970. */
  readonly epoch: number;
}

/**
 * The version of Headlamp's library with which the plugin is tested (e2e/headlamp/shell). Headlamp reads it from devDependencies,
 * and refuses plugins of libraries before 0.8.
 */
const libraryVersion = "^0.14.0";

async function buildHeadlampPlugin(
  root: string,
  { output, epoch }: HeadlampPluginOptions,
): Promise<{ readonly archive: string; readonly sha256: string }> {
  const version = await readVersion(root);
  const draft = await mkdtemp(join(tmpdir(), "switchyard-headlamp-"));
  try {
    const directory = join(draft, "switchyard");
    await mkdir(directory);
    const { metafile } = await build({
      absWorkingDir: root,
      entryPoints: ["apps/cli/src/headlamp/plugin.ts"],
      outfile: join(directory, "main.js"),
      bundle: true,
      minify: true,
      keepNames: true, // names of errors
      platform: "browser",
      format: "iife",
      target: "es2022",
      legalComments: "none", // THIRD_PARTY_LICENSES has them
      alias: {
        "node:crypto": join(root, "apps/cli/src/headlamp/browser/node-crypto.ts"),
        "node:util": join(root, "apps/cli/src/headlamp/browser/node-util.ts"),
      },
      inject: [join(root, "apps/cli/src/headlamp/browser/buffer.ts")],
      metafile: true,
      logLevel: "warning",
    });
    const manifest = {
      name: "switchyard",
      version,
      description:
        "What is wrong with SR-IOV, AF_XDP and SmartNIC networking in a cluster, and which pods have which VFs",
      author: "Switchyard",
      license: "Apache-2.0",
      homepage: repositoryUrl,
      devDependencies: { "@kinvolk/headlamp-plugin": libraryVersion },
    };
    await writeFile(join(directory, "package.json"), `${JSON.stringify(manifest, undefined, 2)}\n`);
    await copyFile(join(root, "LICENSE"), join(directory, "LICENSE"));
    const others = await thirdPartyLicences(root, Object.keys(metafile.inputs));
    await writeFile(join(directory, "THIRD_PARTY_LICENSES"), others);
    await mkdir(resolve(output), { recursive: true });
    const archive = join(resolve(output), `switchyard-headlamp-${version}.tar.gz`);
    return { archive, ...(await writeArchive({ directory: draft, archive, epoch })) };
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}
