// SPDX-License-Identifier: Apache-2.0
/**
 * push copies built images to a registry with crane, which reads credentials as docker does and uses HTTP for localhost.
 */
import { createProgress, outputOf } from "@switchyard/testing";
import { join } from "node:path";
import { goPrograms } from "@switchyard/go-programs";
import type { BuiltImage } from "./build.ts";
import { ImagesError } from "./images-error.ts";

const progress = createProgress({ name: "images" });

export interface PushOptions {
  /** Directory with the layouts. */
  readonly output: string;
  /** Registry, and the beginning of the repositories' names: "localhost:5000", "ghcr.io/switchyard". */
  readonly prefix: string;
  /** The version by default. */
  readonly tag?: string;
}

/** Returns references by digest. Rejects with ImagesError if the registry fails or has another digest. */
export async function push(
  images: readonly BuiltImage[],
  { output, prefix, tag: givenTag }: PushOptions,
): Promise<readonly string[]> {
  const crane = join(await goPrograms("crane"), "crane");
  const references: string[] = [];
  for (const { name, tag: version, digest, layout } of images) {
    const tag = givenTag ?? version;
    const repository = `${prefix}/${name}`;
    const reference = `${repository}@${digest}`;
    // Without --index: the image is the one entry of the layout's index.json, which would become an index around it.
    await progress.during(`push ${repository}:${tag}`, () =>
      outputOf(crane, ["push", join(output, layout), `${repository}:${tag}`]),
    );
    const stored = (await outputOf(crane, ["digest", `${repository}:${tag}`])).trim();
    if (stored !== digest) {
      throw new ImagesError("unexpected-content", `${repository}:${tag} has the digest ${stored} instead of ${digest}`);
    }
    references.push(reference);
  }
  return references;
}
