// SPDX-License-Identifier: Apache-2.0
/**
 * isModuleLoaded reads the state of a kernel module from /sys/module.
 * Usage: `if (await isModuleLoaded("/host", "ib_core")) …`.
 */
import { join } from "node:path";
import { readAttribute, readNames } from "./read-sysfs.ts";

/** Reports whether the module is loaded and initialized, or built in with parameters. */
export async function isModuleLoaded(root: string, module: string): Promise<boolean> {
  const directory = join(root, "sys/module", module.replaceAll("-", "_"));
  if ((await readNames(directory)) === undefined) return false;
  // "coming" while it initializes, "going" while it is unloaded. Built-in modules do not have the file.
  const state = await readAttribute(join(directory, "initstate"));
  return state === undefined || state === "live";
}
