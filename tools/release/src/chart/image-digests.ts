// SPDX-License-Identifier: Apache-2.0
/**
 * pinImages writes the digests of Switchyard's own images into a copy of the chart, so that an installation runs exactly the images of the
 * release, whoever moves a tag. Images from another registry or repository, and with another tag, have no digest.
 * Usage: `await pinImages("/tmp/chart", { version: "1.2.0", digestOf });`
 */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ReleaseError } from "../release-error.ts";

export interface PinOptions {
  /** Tag of the images. */
  readonly version: string;
  /** Returns "sha256:…". Rejects if the registry does not have the image. */
  readonly digestOf: (image: string) => Promise<string>;
}

/** The file of the chart that has the digests. */
const digestsFile = "templates/_digests.tpl";

/** Rejects with ReleaseError if the chart has no own images, or an answer of the registry is not a digest. */
export async function pinImages(chart: string, { version, digestOf }: PinOptions): Promise<void> {
  const images = ownImages(await readFile(join(chart, "templates/_defaults.tpl"), "utf8"));
  if (images.length === 0) throw new ReleaseError("failed", "the chart has no images of Switchyard");
  const rows = await Promise.all(
    images.map(async ([key, image]) => {
      const digest = await digestOf(`${image}:${version}`);
      if (!/^sha256:[0-9a-f]{64}$/.test(digest)) {
        throw new ReleaseError("failed", `${image}:${version}: "${digest}" is not a digest`);
      }
      return `${key}: ${digest}`;
    }),
  );
  const file = join(chart, digestsFile);
  const text = await readFile(file, "utf8");
  const pinned = text.replace("\n{}\n", () => `\n${rows.join("\n")}\n`);
  if (pinned === text) throw new ReleaseError("failed", `${digestsFile} has no place for digests`);
  await writeFile(file, pinned);
}

/** Returns the keys and references of images of this repository, which have no tag. */
function ownImages(defaults: string): readonly (readonly [key: string, image: string])[] {
  return [...defaults.matchAll(/^images\.([a-zA-Z]+): (\S+\/switchyard-[a-z-]+)$/gm)].map(
    ([, key = "", image = ""]) => [key, image],
  );
}
