// SPDX-License-Identifier: Apache-2.0
/** A directory in the image layout of the OCI image specification. */
import { createHash } from "node:crypto";
import { copyFile, link, mkdir, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";

export interface Layout {
  /** Adds a JSON document as a blob. */
  addJson(mediaType: string, value: unknown): Promise<Descriptor>;
  /** Adds a file as a blob, by a hard link if possible. `digest` is that of its content. */
  addFile(mediaType: string, file: string, digest: string): Promise<Descriptor>;
  /** Writes index.json, which makes the layout complete. */
  finish(entries: readonly Descriptor[]): Promise<void>;
}

export const mediaTypes = {
  index: "application/vnd.oci.image.index.v1+json",
  manifest: "application/vnd.oci.image.manifest.v1+json",
  config: "application/vnd.oci.image.config.v1+json",
  layer: "application/vnd.oci.image.layer.v1.tar",
} as const;

/** Types of the OCI image specification 1.1, as far as this tool uses them. */
export interface Descriptor {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: number;
  readonly platform?: { readonly architecture: string; readonly os: string };
  readonly annotations?: Readonly<Record<string, string>>;
}

export interface Manifest {
  readonly schemaVersion: 2;
  readonly mediaType: string;
  readonly config: Descriptor;
  readonly layers: readonly Descriptor[];
  readonly annotations?: Readonly<Record<string, string>>;
}

export interface ImageConfig {
  readonly created: string;
  readonly architecture: string;
  readonly os: string;
  readonly config: Readonly<Record<string, unknown>>;
  readonly rootfs: { readonly type: "layers"; readonly diff_ids: readonly string[] };
  readonly history: readonly { readonly created: string; readonly created_by: string }[];
}

/** Replaces the directory. */
export async function createLayout(directory: string): Promise<Layout> {
  await rm(directory, { recursive: true, force: true });
  const blobs = join(directory, "blobs/sha256");
  await mkdir(blobs, { recursive: true });
  await writeFile(join(directory, "oci-layout"), '{"imageLayoutVersion":"1.0.0"}');
  const pathOf = (digest: string) => join(blobs, digest.replace("sha256:", ""));
  return {
    async addJson(mediaType, value) {
      const text = JSON.stringify(value);
      const digest = sha256(text);
      await writeFile(pathOf(digest), text);
      return { mediaType, digest, size: Buffer.byteLength(text) };
    },
    async addFile(mediaType, file, digest) {
      const to = pathOf(digest);
      await rm(to, { force: true });
      await link(file, to).catch(() => copyFile(file, to)); // the cache may be on another file system
      return { mediaType, digest, size: (await stat(to)).size };
    },
    async finish(entries) {
      await writeFile(join(directory, "index.json"), JSON.stringify({ schemaVersion: 2, manifests: entries }));
    },
  };
}

/** Returns the digest as OCI writes it. */
export function sha256(content: string | Buffer): string {
  return `sha256:${createHash("sha256").update(content).digest("hex")}`;
}
