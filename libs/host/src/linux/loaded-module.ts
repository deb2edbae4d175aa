// SPDX-License-Identifier: Apache-2.0
/**
 * isModuleLoaded reads the state of a kernel module from /sys/module.
 * Usage: `if (isModuleLoaded("/host", "ib_core")) …`.
 */
import { join } from "node:path";
import { readAttribute, readNames } from "./read-sysfs.ts";

/** Reports whether the module is loaded and initialized, or built in with parameters. */
export function isModuleLoaded(root: string, module: string): boolean {
  const directory = join(root, "sys/module", module.replaceAll("-", "_"));
  if (readNames(directory) === undefined) return false;
  // "coming" while it initializes, "going" while it is unloaded. Built-in modules do not have the file.
  const state = readAttribute(join(directory, "initstate"));
  return state === undefined || state === "live";
}
