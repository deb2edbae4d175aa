// SPDX-License-Identifier: Apache-2.0
/**
 * findingGroups puts findings with the same code and cause together, because in a large fleet many nodes have the same one.
 */
import type { Finding } from "../diagnosis/finding.ts";
import { labelOf } from "../json.ts";
import { pageText } from "../text.ts";
import type { FindingGroup, FindingView } from "./report.ts";

/** Findings of a group that are described. Of the others, the page has the names of the objects. */
const maxDescribed = 10;
const maxEvidence = 8;

/** In the order of the findings: errors first. */
export function findingGroups(findings: readonly Finding[]): readonly FindingGroup[] {
  const groups = Map.groupBy(findings, ({ code, severity, cause }) => `${severity} ${code} ${cause}`);
  return [...groups.values()].flatMap((same) => {
    const [first] = same;
    if (first === undefined) return [];
    const { code, severity, cause } = first;
    return {
      code,
      severity,
      cause: pageText(cause),
      findings: same.slice(0, maxDescribed).map(viewOf),
      more: same.slice(maxDescribed).map(({ object }) => pageText(labelOf(object))),
    };
  });
}

function viewOf({ object, field, message, evidence, next }: Finding): FindingView {
  const isOfNode = object.kind === "Node" || object.kind === "SriovNetworkNodeState";
  return {
    object: pageText(labelOf(object)),
    ...(isOfNode && { node: object.name }),
    ...(field !== undefined && { field: pageText(field) }),
    message: pageText(message),
    evidence: evidence.slice(0, maxEvidence).map(pageText),
    next,
  };
}
