// SPDX-License-Identifier: Apache-2.0
/**
 * findingGroups puts findings with the same code and cause together, because in a large fleet many nodes have the same one.
 */
import { findingChains, type FindingChain } from "../diagnosis/finding-chains.ts";
import type { Finding } from "../diagnosis/finding.ts";
import { labelOf } from "../json.ts";
import { pageText } from "../text.ts";
import type { FindingGroup, FindingView } from "./report.ts";

/** Findings of a group that are described. Of the others, the page has the names of the objects. */
const maxDescribed = 10;
const maxEvidence = 8;

/** In the order of the findings: errors first. */
export function findingGroups(findings: readonly Finding[]): readonly FindingGroup[] {
  const chains = findingChains(findings);
  const groups = Map.groupBy(chains, ({ first: { code, severity, cause } }) => `${severity} ${code} ${cause}`);
  return [...groups.values()].flatMap((same) => {
    const [chain] = same;
    if (chain === undefined) return [];
    const { code, severity, cause } = chain.first;
    const [described, others] = [same.slice(0, maxDescribed), same.slice(maxDescribed)];
    return {
      code,
      severity,
      cause: pageText(cause),
      findings: described.map(viewOf),
      more: [...described.flatMap(({ objects }) => objects.slice(1)), ...others.flatMap(({ objects }) => objects)].map(
        pageText,
      ),
    };
  });
}

function viewOf({ first: { object, field, message, evidence, next }, consequences }: FindingChain): FindingView {
  const isOfNode = object.kind === "Node" || object.kind === "SriovNetworkNodeState";
  return {
    object: pageText(labelOf(object)),
    ...(isOfNode && { node: object.name }),
    ...(field !== undefined && { field: pageText(field) }),
    message: pageText(message),
    evidence: evidence.slice(0, maxEvidence).map(pageText),
    next,
    ...(consequences.length > 0 && { consequences: consequences.slice(0, maxEvidence).map(pageText) }),
  };
}
