// SPDX-License-Identifier: Apache-2.0
/**
 * createLinuxBoot implements Boot with /proc/sys/kernel/random/boot_id, which is the same in all containers of a node.
 * Usage: `await createLinuxBoot("/").readBootId()`.
 */
import { promises as fs } from "node:fs";
import { join } from "node:path";
import { operations } from "../calls/operations.ts";
import type { Boot } from "../ports/boot.ts";
import { withHostError } from "../calls/host-error.ts";

/** `root` is the directory that contains proc. */
export function createLinuxBoot(root: string): Boot {
  let bootId: string | undefined; // the same for the life of this process

  return {
    readBootId: () =>
      withHostError(operations.boot.readBootId(), async () => {
        bootId ??= (await fs.readFile(join(root, "proc/sys/kernel/random/boot_id"), "utf8")).trimEnd();
        return bootId;
      }),
  };
}
