// SPDX-License-Identifier: Apache-2.0
/**
 * Which start of the node this is: the kernel's own id of it, the same in each container (random(4)).
 * Usage: `const hasLooked = status.bootID === (await readBootId("/"))`.
 */
import { readFile } from "node:fs/promises";
import { join } from "node:path";

/** A UUID. Rejects where there is no proc below the root. */
export async function readBootId(hostRoot: string): Promise<string> {
  return (await readFile(join(hostRoot, "proc/sys/kernel/random/boot_id"), "utf8")).trimEnd();
}
