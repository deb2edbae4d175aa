// SPDX-License-Identifier: Apache-2.0
/**
 * findingsByNode merges findings that are the same on several nodes into one that lists the nodes.
 * Usage: `findingsByNode(targets, (pf) => (pf.numVfs === 0 ? [refuse("spec.numVfs", "must be 0")] : []))`.
 */
import type { InterfaceStatus } from "@switchyard/api";
import { describeFinding, type Finding } from "./finding.ts";
import { namesOf, type NodeGroup } from "./node-groups.ts";
import { listNames } from "./phrase.ts";
import { forEachMatchedPf, type PolicyTargets } from "./policy-targets.ts";

/** Calls `check` with each PF that the policy matches. Equal findings are returned once, with " on NODES" appended. */
export function findingsByNode(
  targets: PolicyTargets,
  check: (pf: InterfaceStatus) => readonly Finding[],
): readonly Finding[] {
  const found = new Map<string, { readonly finding: Finding; readonly groups: Set<NodeGroup> }>();
  forEachMatchedPf(targets, (pf, group) => {
    for (const finding of check(pf)) {
      const key = describeFinding(finding);
      const entry = found.get(key);
      if (entry === undefined) found.set(key, { finding, groups: new Set([group]) });
      else entry.groups.add(group);
    }
  });
  return [...found.values()].map(({ finding, groups }) => ({
    ...finding,
    message: `${finding.message} on ${listNames(namesOf([...groups]))}`,
  }));
}
