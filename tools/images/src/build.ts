// SPDX-License-Identifier: Apache-2.0
/**
 * build builds images into one OCI layout per app, with a software bill of materials (SBOM) for each architecture, and
 * images.json, which lists their digests.
 */
import { createProgress, ensurePrograms, type ProgramName, TestingError } from "@switchyard/testing";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { bundleApps } from "./app-files.ts";
import { imageName, type AppName, type Architecture } from "./app-image.ts";
import { prepareContext, type ContextParts } from "./build-context.ts";
import { buildImages } from "./buildah.ts";
import { cacheDirectory } from "./cache.ts";
import { readMetadata } from "./metadata.ts";
import { stripProgram } from "./npm-package.ts";
import { addImage } from "./oci/assemble.ts";
import type { Compression } from "./oci/compress.ts";
import { createLayout, mediaTypes, type Descriptor } from "./oci/layout.ts";
import { ImagesError } from "./images-error.ts";
import { createSbom } from "./sbom.ts";

const progress = createProgress({ name: "images" });

export interface BuildImagesOptions {
  readonly apps: readonly AppName[];
  readonly architectures: readonly Architecture[];
  /** Directory for the layouts. */
  readonly output: string;
  /** "scratch" by default, with the C library from Debian packages. */
  readonly base?: string;
  /** "zstd" by default. */
  readonly compression?: Compression;
}

/** An image of one architecture. Sizes are in bytes. */
export interface PlatformImage {
  readonly architecture: Architecture;
  readonly digest: string;
  /** What a node downloads if it has none of the layers: layers, configuration and manifest. */
  readonly size: number;
  readonly layers: readonly Pick<Descriptor, "digest" | "size">[];
  /** SPDX document, relative to images.json. */
  readonly sbom: string;
}

/** An entry of images.json. */
export interface BuiltImage {
  readonly app: AppName;
  /** Name in a registry, after the prefix. */
  readonly name: string;
  /** The version. */
  readonly tag: string;
  /** Digest of the index of all architectures. */
  readonly digest: string;
  /** The OCI layout, relative to images.json. */
  readonly layout: string;
  readonly platforms: readonly PlatformImage[];
}

/** Rejects with ImagesError. */
export async function build(options: BuildImagesOptions): Promise<readonly BuiltImage[]> {
  const { apps, architectures, base = "scratch", compression = "zstd" } = options;
  const output = resolve(options.output);
  await ensureRequirements(architectures);
  const metadata = await readMetadata();
  const { version, created, labels } = metadata;
  await progress.during(`bundle ${apps.join(", ")}`, () => bundleApps(apps));
  await mkdir(cacheDirectory(), { recursive: true });
  const work = await mkdtemp(join(cacheDirectory(), ".work-"));
  const contextOf = (architecture: Architecture) => join(work, "context", architecture);
  const exportedTo = (app: AppName, architecture: Architecture) => join(work, "exported", architecture, app);
  try {
    const parts = new Map<Architecture, ContextParts>();
    for (const architecture of architectures) {
      const context = contextOf(architecture);
      const prepare = () => prepareContext(context, { apps, architecture, withDebian: base === "scratch" });
      parts.set(architecture, await progress.during(`files for ${architecture}`, prepare));
      await mkdir(join(work, "exported", architecture), { recursive: true });
      const exports = apps.map((app) => ({ app, to: exportedTo(app, architecture) }));
      await progress.during(`build ${apps.length} images for ${architecture}`, () =>
        buildImages({ context, work, architecture, base, apps: exports }),
      );
    }
    const images: BuiltImage[] = [];
    for (const app of apps) {
      const name = imageName(app);
      const image = await progress.during(`compress ${name}`, async () => {
        const layout = await createLayout(join(output, name));
        const platforms: PlatformImage[] = [];
        const manifests: Descriptor[] = [];
        for (const [architecture, part] of parts) {
          const exported = exportedTo(app, architecture);
          const added = await addImage(layout, { exported, architecture, labels: labels(app), created, compression });
          const { digest } = added.manifest;
          const sbom = `${name}.${architecture}.spdx.json`;
          const context = contextOf(architecture);
          const document = await createSbom({ app, architecture, context, parts: part, metadata, digest });
          await writeFile(join(output, sbom), `${JSON.stringify(document, undefined, 2)}\n`);
          platforms.push({
            architecture,
            digest,
            size: [added.manifest, added.config, ...added.layers].reduce((sum, { size }) => sum + size, 0),
            layers: added.layers.map(({ digest, size }) => ({ digest, size })),
            sbom,
          });
          manifests.push(added.manifest);
        }
        const index = { schemaVersion: 2, mediaType: mediaTypes.index, manifests, annotations: labels(app) };
        const descriptor = await layout.addJson(mediaTypes.index, index);
        await layout.finish([{ ...descriptor, annotations: { "org.opencontainers.image.ref.name": version } }]);
        return { app, name, tag: version, digest: descriptor.digest, layout: name, platforms };
      });
      images.push(image);
    }
    await writeFile(join(output, "images.json"), `${JSON.stringify(images, undefined, 2)}\n`);
    return images;
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

/**
 * ensureRequirements installs the Debian packages that a build needs, or says what is missing.
 * Needs root. Rejects with ImagesError `missing-requirement` if a program is missing and apt-get does not install it.
 */
async function ensureRequirements(architectures: readonly Architecture[]): Promise<void> {
  if (process.geteuid?.() !== 0) {
    const words = "root is required, because buildah writes files of root into layers; run the command as root";
    throw new ImagesError("missing-requirement", words);
  }
  const programs: readonly ProgramName[] = ["buildah", "dpkg-deb", "tar", ...architectures.map(stripProgram)];
  try {
    await ensurePrograms(programs);
  } catch (error) {
    if (error instanceof TestingError) throw new ImagesError("missing-requirement", error.message);
    throw error;
  }
}
