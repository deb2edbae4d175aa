// SPDX-License-Identifier: Apache-2.0
/**
 * Boot by /proc/sys/kernel/random/boot_id, which is the kernel's own and so the same in all containers.
 * Usage: `createLinuxBoot("/")`.
 */
import { promises as fs } from "node:fs";
import { join } from "node:path";
import { attempts } from "../calls/operations.ts";
import type { Boot } from "../ports/boot.ts";
import { toHostError } from "../calls/host-error.ts";

/** Boot of the tree at `root`. */
export function createLinuxBoot(root: string): Boot {
  return {
    async readBootId() {
      try {
        return (await fs.readFile(join(root, "proc/sys/kernel/random/boot_id"), "utf8")).trimEnd();
      } catch (error) {
        throw toHostError(attempts.boot.readBootId(), error);
      }
    },
  };
}
