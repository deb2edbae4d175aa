// SPDX-License-Identifier: Apache-2.0
/**
 * Removes the Go operator's udev rules of a PF, and the scripts that they call, when the PF is released. The Go operator does
 * the same when it resets a PF (sriov-operator.md F.6). udev notices a removed rule by itself.
 */
import type { PciAddress } from "@switchyard/api";
import type { HostFiles } from "@switchyard/host";
import { helpers, ruleDirectory, rulesOf } from "./upstream-files.ts";

/** Removes the Go operator's rules of the PF, and its scripts that no rule calls any more. Rejects with HostError. */
export async function removeUdevRules(files: HostFiles, pf: PciAddress): Promise<void> {
  for (const { path, isUpstreams } of rulesOf(pf)) {
    const text = await files.readText(path);
    if (text !== undefined && isUpstreams(text)) await files.remove(path);
  }
  for (const path of await findUnusedHelpers(files)) await files.remove(path);
}

/** Directories from which udev reads rules. */
const ruleDirectories = [ruleDirectory, "/run/udev/rules.d", "/usr/lib/udev/rules.d"] as const;

/** Returns the Go operator's scripts that no udev rule mentions. Rejects with HostError. */
export async function findUnusedHelpers(files: HostFiles): Promise<readonly string[]> {
  const present: string[] = [];
  for (const { path, isUpstreams } of helpers) {
    const text = await files.readText(path);
    if (text !== undefined && isUpstreams(text)) present.push(path);
  }
  if (present.length === 0) return [];
  const rules = await readRules(files);
  return rules === undefined ? [] : present.filter((path) => !rules.some((text) => text.includes(path)));
}

/** Returns the texts of all rules; undefined if a rule cannot be read, because it may call any script. */
async function readRules(files: HostFiles): Promise<readonly string[] | undefined> {
  const texts: string[] = [];
  for (const directory of ruleDirectories) {
    for (const name of (await files.listNames(directory)).filter((one) => one.endsWith(".rules"))) {
      const path = `${directory}/${name}`;
      const isMask = (await files.readLink(path)) === "/dev/null"; // an administrator masked the rule
      const text = isMask ? "" : await files.readText(path);
      if (text === undefined) return undefined;
      texts.push(text);
    }
  }
  return texts;
}
