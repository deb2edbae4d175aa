// SPDX-License-Identifier: Apache-2.0
/**
 * Which kernel modules are loaded, by /sys/module.
 * Usage: `if (await isModuleLoaded("/host", "ib_core")) …`.
 */
import { join } from "node:path";
import { readAttribute, readNames } from "./read-sysfs.ts";

/** Whether the module is loaded and initialized, or built in with parameters, in the tree at `root`. */
export async function isModuleLoaded(root: string, module: string): Promise<boolean> {
  const directory = join(root, "sys/module", module.replaceAll("-", "_"));
  if ((await readNames(directory)) === undefined) return false;
  // "coming" while it initializes, "going" while it is unloaded; built-in ones have no such file.
  const state = await readAttribute(join(directory, "initstate"));
  return state === undefined || state === "live";
}
