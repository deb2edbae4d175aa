// SPDX-License-Identifier: Apache-2.0
/** `npm run bundle` makes the bundle for OpenShift, and pushes and signs it if asked to. */
import { outputOf } from "@switchyard/testing";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { parse } from "yaml";
import { requireFlag, type Verb } from "../command-line.ts";
import { crane, digestOf } from "../images/digest-of.ts";
import { isLoopback } from "../sign/sign-artifact.ts";
import { signFlags, signWithOrigin } from "../sign/verb.ts";
import { sourceEpoch } from "../archive.ts";
import { readVersion } from "../version/product-version.ts";
import { buildBundle, type BundleFiles } from "./build-bundle.ts";

export const bundle: Verb = {
  summary: "make the bundle for the Operator Lifecycle Manager of OpenShift",
  operands: "",
  flags: {
    output: { value: "DIR", summary: "directory of the bundle" },
    channel: { value: "NAME", summary: "channel of the package in catalogs (default stable)" },
    pin: { summary: "replace the tags of all images by the digests that their registries state" },
    push: { value: "REPOSITORY", summary: "also push it as an image below REPOSITORY: ghcr.io/switchyard" },
    sign: { summary: "also sign what was pushed" },
    ...signFlags,
  },
  run: async (input) => {
    const { root, flags, env, print } = input;
    const directory = requireFlag(input, "output");
    const files = await buildBundle(root, {
      epoch: await sourceEpoch(root, env),
      channel: flags["channel"] ?? "stable",
      pin: flags["pin"] === "true" ? digestOf : undefined,
    });
    await rm(directory, { recursive: true, force: true });
    for (const [path, text] of files) {
      const file = join(directory, path);
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, text);
    }
    print(`wrote ${files.size} files to ${directory}`);
    const { push: repository } = flags;
    if (repository === undefined) return;
    const reference = await pushBundle(directory, files, `${repository}/switchyard-bundle:${await readVersion(root)}`);
    print(reference);
    if (flags["sign"] === "true") await signWithOrigin(input, { reference, sboms: [] });
  },
};

/** Pushes an image of one layer with the labels that catalogs read, as bundle.Containerfile describes it. */
async function pushBundle(directory: string, files: BundleFiles, tag: string): Promise<string> {
  const draft = await mkdtemp(join(tmpdir(), "switchyard-bundle-"));
  try {
    const layer = join(draft, "layer.tar");
    const stable = ["--sort=name", "--mtime=@0", "--owner=0", "--group=0", "--numeric-owner", "--mode=u=rwX,go=rX"];
    await outputOf("tar", [
      "--create",
      `--file=${layer}`,
      ...stable,
      `--directory=${directory}`,
      "manifests",
      "metadata",
    ]);
    const insecure = isLoopback(tag) ? ["--insecure"] : [];
    await crane("append", "--oci-empty-base", "--new_layer", layer, "--new_tag", tag, ...insecure);
    const { annotations } = parse(files.get("metadata/annotations.yaml") ?? "") as { annotations: object };
    const labels = Object.entries(annotations).flatMap(([name, value]) => ["--label", `${name}=${String(value)}`]);
    await crane("mutate", tag, ...labels, "--tag", tag, ...insecure);
    return `${tag.replace(/:[^:/]+$/, "")}@${await digestOf(tag)}`;
  } finally {
    await rm(draft, { recursive: true });
  }
}
