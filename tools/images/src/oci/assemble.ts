// SPDX-License-Identifier: Apache-2.0
/**
 * addImage adds an image that buildah has exported to a layout: compressed layers, and a configuration that does not depend
 * on buildah's version.
 */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Architecture } from "../app-image.ts";
import { ImagesError } from "../images-error.ts";
import { compressLayer, type Compression } from "./compress.ts";
import { mediaTypes, type Descriptor, type ImageConfig, type Layout, type Manifest } from "./layout.ts";

export interface AddImageOptions {
  /** Directory in the format of `buildah push dir:`. */
  readonly exported: string;
  readonly architecture: Architecture;
  readonly labels: Readonly<Record<string, string>>;
  readonly created: string;
  readonly compression: Compression;
}

export interface AddedImage {
  readonly manifest: Descriptor;
  readonly config: Descriptor;
  readonly layers: readonly Descriptor[];
}

/** Rejects with ImagesError. */
export async function addImage(layout: Layout, options: AddImageOptions): Promise<AddedImage> {
  const { exported, architecture, labels, created, compression } = options;
  const read = async (name: string): Promise<unknown> => JSON.parse(await readFile(join(exported, name), "utf8"));
  const built = (await read("manifest.json")) as Manifest;
  const from = (await read(built.config.digest.replace("sha256:", ""))) as ImageConfig;
  if (from.architecture !== architecture) {
    throw new ImagesError("unexpected-content", `buildah built for ${from.architecture} instead of ${architecture}`);
  }
  const layers: Descriptor[] = [];
  for (const diffId of from.rootfs.diff_ids) {
    const { file, digest } = await compressLayer(join(exported, diffId.replace("sha256:", "")), diffId, compression);
    layers.push(await layout.addFile(`${mediaTypes.layer}+${compression}`, file, digest));
  }
  const config: ImageConfig = {
    created,
    architecture,
    os: "linux",
    config: { ...from.config, WorkingDir: "/", Labels: labels },
    rootfs: from.rootfs,
    // The layers have constant times, so that they do not change with each release.
    history: from.rootfs.diff_ids.map(() => ({ created: "1970-01-01T00:00:00Z", created_by: "COPY" })),
  };
  const configDescriptor = await layout.addJson(mediaTypes.config, config);
  const manifest: Manifest = {
    schemaVersion: 2,
    mediaType: mediaTypes.manifest,
    config: configDescriptor,
    layers,
    annotations: labels,
  };
  const descriptor = await layout.addJson(mediaTypes.manifest, manifest);
  const platform = { architecture, os: "linux" };
  return { manifest: { ...descriptor, platform }, config: configDescriptor, layers };
}
