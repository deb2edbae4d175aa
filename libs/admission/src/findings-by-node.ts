// SPDX-License-Identifier: Apache-2.0
/**
 * One finding for what is the same on many nodes, with their names.
 * Usage: `findingsByNode(reach, (pf) => (pf.numVfs === 0 ? [refuse("spec.numVfs", "…")] : []))`.
 */
import type { InterfaceStatus } from "@switchyard/api";
import { describeFinding, type Finding } from "./finding.ts";
import { listNames } from "./phrase.ts";
import { statusesOf, type Reach } from "./reach.ts";

/** Asks `check` about each PF that the policy matches; equal answers come once, with " on NODES" behind. */
export function findingsByNode(reach: Reach, check: (pf: InterfaceStatus) => readonly Finding[]): readonly Finding[] {
  const answers = new Map<InterfaceStatus, readonly Finding[]>(); // equal PFs are the same object
  const found = new Map<string, { readonly finding: Finding; readonly nodes: string[] }>();
  for (const { node, pf } of statusesOf(reach)) {
    const findings = answers.get(pf) ?? check(pf);
    answers.set(pf, findings);
    for (const finding of findings) {
      const key = describeFinding(finding);
      const entry = found.get(key);
      if (entry === undefined) found.set(key, { finding, nodes: [node.name] });
      else entry.nodes.push(node.name);
    }
  }
  return [...found.values()].map(({ finding, nodes }) => ({
    ...finding,
    message: `${finding.message} on ${listNames(nodes)}`,
  }));
}
