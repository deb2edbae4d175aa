// SPDX-License-Identifier: Apache-2.0
/**
 * Types of the OCI image specification 1.1, as far as this tool uses them.
 * Usage: `const descriptor = await layout.addJson(mediaTypes.manifest, manifest);`
 */

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

export const mediaTypes = {
  index: "application/vnd.oci.image.index.v1+json",
  manifest: "application/vnd.oci.image.manifest.v1+json",
  config: "application/vnd.oci.image.config.v1+json",
  layer: "application/vnd.oci.image.layer.v1.tar",
} as const;
