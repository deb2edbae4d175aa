// SPDX-License-Identifier: Apache-2.0
/**
 * One finding for what is the same on many nodes, with their names.
 * Usage: `findingsByNode(reach, (pf) => (pf.numVfs === 0 ? [refuse("spec.numVfs", "…")] : []))`.
 */
import type { InterfaceStatus } from "@switchyard/api";
import { describeFinding, type Finding } from "./finding.ts";
import { namesOf, type NodeSort } from "./node-sorts.ts";
import { listNames } from "./phrase.ts";
import { forEachStatus, type Reach } from "./reach.ts";

/** Asks `check` about each PF that the policy matches; equal answers come once, with " on NODES" behind. */
export function findingsByNode(reach: Reach, check: (pf: InterfaceStatus) => readonly Finding[]): readonly Finding[] {
  const found = new Map<string, { readonly finding: Finding; readonly sorts: Set<NodeSort> }>();
  forEachStatus(reach, (pf, sort) => {
    for (const finding of check(pf)) {
      const key = describeFinding(finding);
      const entry = found.get(key);
      if (entry === undefined) found.set(key, { finding, sorts: new Set([sort]) });
      else entry.sorts.add(sort);
    }
  });
  return [...found.values()].map(({ finding, sorts }) => ({
    ...finding,
    message: `${finding.message} on ${listNames(namesOf([...sorts]))}`,
  }));
}
