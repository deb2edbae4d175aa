// SPDX-License-Identifier: Apache-2.0
/**
 * buildPlugin builds the programs of go/: the real device plugin, `sriovdp`, in the version for which upstream's
 * operator is made, and the fake `kubelet`.
 * Usage: `const bin = await buildPlugin(); run(join(bin, "sriovdp"), …)`.
 */
import { join } from "node:path";
import { buildGoPrograms } from "@switchyard/go-programs";

/** Returns the directory of the programs. Rejects if Go is missing or cannot build them. */
export function buildPlugin(): Promise<string> {
  const sources = join(__dirname, "go");
  return buildGoPrograms({ sources, cacheName: "device-plugin", title: "the device plugin" });
}
