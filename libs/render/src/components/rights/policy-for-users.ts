// SPDX-License-Identifier: Apache-2.0
/**
 * policyForUsers returns an admission policy that limits the requests of some users, and its binding. Other users are not
 * affected. RBAC grants, the policy takes away.
 */
import { defined } from "@switchyard/api";
import type {
  ManifestMetadata,
  NamedExpression,
  RequestRule,
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
} from "../objects/kube-objects.ts";

export interface UserLimits {
  /** Of the policy and its binding. */
  readonly metadata: ManifestMetadata;
  /** User names, such as "system:serviceaccount:NAMESPACE:NAME". */
  readonly users: readonly string[];
  /** Name of the condition that the request is made by one of the users; it appears in errors. */
  readonly condition: string;
  readonly rules: readonly RequestRule[];
  /**
   * The API server evaluates a variable only when a validation uses it. Omit the list instead of passing an empty one: the API
   * server stores none, and the object in the chart would differ from the stored one.
   */
  readonly variables?: readonly NamedExpression[];
  readonly validations: readonly { readonly expression: string; readonly messageExpression: string }[];
}

const apiVersion = "admissionregistration.k8s.io/v1";

export function policyForUsers({
  metadata,
  users,
  condition,
  rules,
  variables,
  validations,
}: UserLimits): readonly [ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding] {
  return [
    {
      apiVersion,
      kind: "ValidatingAdmissionPolicy",
      metadata,
      spec: {
        failurePolicy: "Fail",
        matchConstraints: {
          resourceRules: rules,
          matchPolicy: "Equivalent",
          namespaceSelector: {},
          objectSelector: {},
        },
        matchConditions: [{ name: condition, expression: `request.userInfo.username in ${JSON.stringify(users)}` }],
        ...defined({ variables }),
        validations: validations.map((validation) => ({ ...validation, reason: "Forbidden" })),
      },
    },
    {
      apiVersion,
      kind: "ValidatingAdmissionPolicyBinding",
      metadata,
      spec: { policyName: metadata.name, validationActions: ["Deny"] },
    },
  ];
}

/**
 * Parts of CEL expressions for admission policies.
 * Returns a JSON value as a literal. The elements of a list or map are dyn, because CEL accepts no mixed types otherwise.
 */
export function celLiteral(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map((inner: unknown) => `dyn(${celLiteral(inner)})`).join(", ")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  return `{${Object.entries(value)
    .map(([key, inner]) => `${JSON.stringify(key)}: dyn(${celLiteral(inner)})`)
    .join(", ")}}`;
}

/** Compares two maps by their expressions. Entries whose `key` meets the condition `isMutable` may differ. */
export function sameEntriesExcept(isMutable: string, { before, after }: Readonly<Record<"before" | "after", string>>) {
  return (
    `${before}.all(key, ${isMutable} || key in ${after}) && ${after}.all(key, ` +
    `${isMutable} || (key in ${before} && ${before}[key] == ${after}[key]))`
  );
}

/** Compares fields of an object with those before the change; absent fields equal absent fields. */
export function sameFields(...fields: readonly string[]): string {
  return fields.map((field) => `object.${field} == oldObject.${field}`).join(" && ");
}
