// SPDX-License-Identifier: Apache-2.0
/**
 * buildGoTools builds the programs of go/: the stock CNI plugins, `cnitool`, the Go RPC server `judge`, and `wiretap`.
 * Usage: `const bin = await buildGoTools(); run(join(bin, "cnitool"), …)`.
 */
import { join } from "node:path";
import { buildGoPrograms } from "@switchyard/go-programs";

/** Returns the directory of the programs. Rejects if Go is missing or cannot build them. */
export function buildGoTools(): Promise<string> {
  return buildGoPrograms({ sources: join(__dirname, "go"), cacheName: "cni", title: "the CNI plugins" });
}
