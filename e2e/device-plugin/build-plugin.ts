// SPDX-License-Identifier: Apache-2.0
/**
 * The programs of go/: the real device plugin, `sriovdp`, of the version that upstream's operator is made for, and
 * what it sees of a kubelet.
 * Usage: `const bin = await buildPlugin(); run(join(bin, "sriovdp"), …)`.
 */
import { join } from "node:path";
import { buildGoPrograms } from "../src/go-programs.ts";

/** The directory with the programs. Rejects where Go is missing or cannot build them. */
export function buildPlugin(): Promise<string> {
  const sources = join(__dirname, "go");
  return buildGoPrograms({ sources, cacheName: "device-plugin", title: "the device plugin" });
}
