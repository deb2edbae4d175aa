// SPDX-License-Identifier: Apache-2.0
/**
 * CEL expressions about objects that ovn-offload creates, which its labels identify.
 * Usage: `const variables = [targetVariable, ownVariable];`
 */
import { labels } from "@switchyard/api";
import type { NamedExpression } from "../../components/objects/kube-objects.ts";
import { celLiteral } from "../../components/rights/cel.ts";
import { ovnOffloadMark } from "../offload-labels.ts";

/** The object that is written or deleted. */
export const targetVariable: NamedExpression = {
  name: "target",
  expression: 'request.operation == "DELETE" ? oldObject : object',
};

/** Value of the pool label; "" if there is none. */
export const poolVariable: NamedExpression = {
  name: "pool",
  expression: `variables.target.metadata.?labels[?${celLiteral(labels.ovnOffloadPool)}].orValue("")`,
};

/** Whether ovn-offload created the object, and it keeps its label. */
export const ownVariable: NamedExpression = {
  name: "isOwn",
  expression: `(oldObject == null || ${isOwn("oldObject")}) && (object == null || ${isOwn("object")})`,
};

/** Whether the object has the label of ovn-offload. */
export function isOwn(object: string): string {
  const marks = Object.entries(ovnOffloadMark).map(
    ([key, value]) => `${object}.metadata.?labels[?${celLiteral(key)}].orValue("") == ${celLiteral(value)}`,
  );
  return marks.join(" && ");
}
