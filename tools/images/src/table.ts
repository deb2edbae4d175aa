// SPDX-License-Identifier: Apache-2.0
/**
 * formatTable shows the sizes of images, and what a node downloads that has the images in the lines before.
 * Usage: `process.stdout.write(formatTable(images));`
 */
import type { BuiltImage } from "./build.ts";

/** Sizes are in MB (10^6 bytes). Images of an architecture are listed in the order of a node's downloads. */
export function formatTable(images: readonly BuiltImage[]): string {
  const rows = [["image", "architecture", "size MB", "more MB", "layers (MB; = shared with an image above)", "digest"]];
  const stored = new Set<string>(); // of nodes of each architecture
  for (const { name, tag, digest, platforms } of images) {
    rows.push([`${name}:${tag}`, "all", "", "", "", digest]);
    for (const { architecture, digest: manifest, size, layers } of platforms) {
      const isStored = (layer: { readonly digest: string }) => stored.has(`${architecture} ${layer.digest}`);
      const shared = layers.filter(isStored);
      const more = size - shared.reduce((sum, layer) => sum + layer.size, 0);
      const sizes = layers.map((layer) => `${isStored(layer) ? "=" : ""}${megabytes(layer.size)}`);
      rows.push(["", architecture, megabytes(size), megabytes(more), sizes.join(" + "), manifest]);
      for (const layer of layers) stored.add(`${architecture} ${layer.digest}`);
    }
  }
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const lines = rows.map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  "));
  return `${lines.map((line) => line.trimEnd()).join("\n")}\n`;
}

function megabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(1);
}
