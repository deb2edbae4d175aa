// SPDX-License-Identifier: Apache-2.0
/** OffloadLimit is what ovn-offload may write to objects of one kind. offload-limits.ts makes an admission policy of each. */
import { labels } from "@switchyard/api";
import type { NamedExpression, RequestRule } from "../../components/objects/kube-objects.ts";
import { celLiteral, sameEntriesExcept } from "../../components/rights/policy-for-users.ts";
import { ovnOffloadMark } from "../offload-policy.ts";

/** Limits the writes to objects of one kind. */
export interface OffloadLimit {
  /** End of the policy's name. */
  readonly name: string;
  readonly rule: RequestRule;
  readonly variables?: readonly NamedExpression[];
  /** `message` completes "USER may only ", as a CEL expression of type string. */
  readonly validations: readonly { readonly expression: string; readonly message: string }[];
}

/**
 * CEL expressions about objects that ovn-offload creates, which its labels identify.
 * The object that is written or deleted.
 */
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

/**
 * Finalizers, owners and annotations decide who deletes an object, and what other programs do with it. A new object has none of them,
 * and a change keeps them, apart from the annotations `own`.
 */
export function metadataLimit(what: string, own: readonly string[] = []): OffloadLimit["validations"][number] {
  const of = (object: string, field: string, none: string) => `${object}.metadata.?${field}.orValue(${none})`;
  const before = (field: string, none: string) => `(oldObject == null ? ${none} : ${of("oldObject", field, none)})`;
  const same = ["finalizers", "ownerReferences"].map(
    (field) => `${of("object", field, "[]")} == ${before(field, "[]")}`,
  );
  const annotations = sameEntriesExcept(`key in ${JSON.stringify(own)}`, {
    before: before("annotations", "{}"),
    after: of("object", "annotations", "{}"),
  });
  return {
    expression: `request.operation == "DELETE" || (${[...same, annotations].join(" && ")})`,
    message: `"write ${what} without finalizers, owners and annotations of its choice"`,
  };
}
