// SPDX-License-Identifier: Apache-2.0
/**
 * compressLayer compresses a layer and keeps the result in the cache. Node's own zstd is used instead of buildah's, so that
 * the digest depends only on the version of Node.
 */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { constants, gzip, zstdCompress } from "node:zlib";
import { cached } from "../cache.ts";
import { sha256 } from "./layout.ts";

/**
 * zstd is a quarter smaller and unpacks four times as fast. containerd since 1.5, CRI-O since 1.20 and Docker since 23 read
 * it; Switchyard needs Kubernetes 1.30, which is newer than all of these. gzip is for registries that refuse zstd.
 */
export const compressions = ["zstd", "gzip"] as const;
export type Compression = (typeof compressions)[number];

export interface CompressedLayer {
  readonly file: string;
  readonly digest: string;
}

/** Level 9 compresses Node to 35 MB in 3 s on one processor; level 19 takes a minute for 30 MB. */
const zstdOptions = { params: { [constants.ZSTD_c_compressionLevel]: 9, [constants.ZSTD_c_checksumFlag]: 1 } };
const compress: Readonly<Record<Compression, (content: Buffer) => Promise<Buffer>>> = {
  zstd: (content) => promisify(zstdCompress)(content, zstdOptions),
  gzip: (content) => promisify(gzip)(content, { level: 9 }),
};

/** `diffId` is the digest of the uncompressed layer in the file `tar`. */
export async function compressLayer(tar: string, diffId: string, compression: Compression): Promise<CompressedLayer> {
  const key = `${diffId.replace("sha256:", "")}-${compression}-${versionOf(compression)}`;
  const directory = await cached("layers", key, async (draft) => {
    await writeFile(join(draft, "layer"), await compress[compression](await readFile(tar)));
  });
  const file = join(directory, "layer");
  return { file, digest: sha256(await readFile(file)) };
}

/** What the compressed content depends on. */
function versionOf(compression: Compression): string {
  return compression === "zstd"
    ? `${process.versions["zstd"] ?? process.version}-level-9`
    : `${process.versions.zlib}-level-9`;
}
