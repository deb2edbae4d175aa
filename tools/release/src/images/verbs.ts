// SPDX-License-Identifier: Apache-2.0
/** `npm run release -- affected` and `publish-images`: the images of the apps that a change affects, in a registry. */
import { outputOf } from "@switchyard/testing";
import { appImages, isAppName } from "@switchyard/images";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { requireFlag, type Verb } from "../command-line.ts";
import { ReleaseError } from "../release-error.ts";
import { signFlags, signWithOrigin } from "../sign/verb.ts";
import { affectedApps } from "./affected.ts";

export const affected: Verb = {
  summary: "print the apps whose images a change affects, separated by commas",
  operands: "",
  flags: { base: { value: "COMMIT", summary: "the commit before the change (without: all apps)" } },
  run: async ({ root, flags: { base = "" }, print }) => {
    print((await affectedApps(root, { base, images: Object.keys(appImages) })).join(","));
  },
};

/** An entry of images.json, which `npm run images` writes. */
interface BuiltImage {
  readonly name: string;
  /** Of the index of all architectures. */
  readonly digest: string;
  readonly platforms: readonly {
    readonly digest: string;
    /** SPDX document, relative to images.json. */
    readonly sbom?: string;
  }[];
}

export const publishImages: Verb = {
  summary: "build images, push them, and sign them with origin and SBOMs",
  operands: "",
  flags: {
    apps: { value: "LIST", summary: "apps, separated by commas (default: all)" },
    registry: { value: "PREFIX", summary: "registry: ghcr.io/switchyard" },
    tag: { value: "NAME", summary: "tag of the images (default: the version)" },
    ...signFlags,
  },
  run: async (input) => {
    const { root, flags, print } = input;
    const registry = requireFlag(input, "registry");
    const apps = (flags["apps"] ?? "").split(",").filter(Boolean);
    const unknown = apps.find((app) => !isAppName(app));
    if (unknown !== undefined) throw new ReleaseError("usage", `--apps: "${unknown}" has no image`);
    const output = join(root, "dist/images");
    const tag = flags["tag"] ? ["--tag", flags["tag"]] : [];
    const args = [...apps, "--output", output, "--push", registry, ...tag];
    await outputOf(process.execPath, [join(root, "tools/images/src/main.ts"), ...args], { cwd: root });
    const images = JSON.parse(await readFile(join(output, "images.json"), "utf8")) as readonly BuiltImage[];
    for (const { name, digest, platforms } of images) {
      // The packages of an image depend on its architecture, so each has an SBOM of its own.
      for (const { digest: platform, sbom } of platforms) {
        const predicate = sbom === undefined ? undefined : join(output, sbom);
        const sboms = predicate === undefined ? [] : [{ type: "spdxjson", predicate } as const];
        await signWithOrigin(input, { reference: `${registry}/${name}@${platform}`, sboms });
      }
      const reference = `${registry}/${name}@${digest}`;
      await signWithOrigin(input, { reference, sboms: [] });
      print(reference);
    }
  },
};
