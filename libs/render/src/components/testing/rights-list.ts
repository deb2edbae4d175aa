// SPDX-License-Identifier: Apache-2.0
/**
 * rightsList writes the rights among manifests as lines that a person can review: what each role grants, to whom, and what admission
 * policies take away from it. Other objects, such as DaemonSets, are left out.
 */
import type {
  Manifest,
  Role,
  RoleBinding,
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
} from "../objects/kube-objects.ts";

type RightsObject = Role | RoleBinding | ValidatingAdmissionPolicy | ValidatingAdmissionPolicyBinding;

export function rightsList(manifests: readonly Manifest[]): readonly string[] {
  return manifests.filter(isRightsObject).flatMap((object) => {
    const { namespace, name } = object.metadata;
    const head = `${object.kind} ${namespace === undefined ? "" : `${namespace}/`}${name}`;
    return linesOf(object).map((line) => `${head}: ${line}`);
  });
}

function linesOf(object: RightsObject): readonly string[] {
  switch (object.kind) {
    case "Role":
    case "ClusterRole":
      return object.rules.map(({ verbs, apiGroups, resources, resourceNames: names = [] }) => {
        const named = names.map((name) => ` named ${name}`).join();
        return `${verbs.join(",")} ${resources.join(",")} of "${apiGroups.join(",")}"${named}`;
      });
    case "RoleBinding":
    case "ClusterRoleBinding":
      return object.subjects.map(
        (subject) => `${object.roleRef.kind} ${object.roleRef.name} for ${Object.values(subject).join(" ")}`,
      );
    case "ValidatingAdmissionPolicy":
      return policyLines(object);
    case "ValidatingAdmissionPolicyBinding":
      return [`${object.spec.validationActions.join(",")} by ${object.spec.policyName}`];
  }
}

function policyLines({ spec }: ValidatingAdmissionPolicy): readonly string[] {
  const { matchConstraints, matchConditions, variables = [], validations, failurePolicy } = spec;
  return [
    ...matchConstraints.resourceRules.map(
      ({ operations, resources, apiGroups, apiVersions, scope }) =>
        `${operations.join(",")} ${resources.join(",")} of "${apiGroups.join(",")}/${apiVersions.join(",")}", ${scope}`,
    ),
    ...matchConditions.map(({ name, expression }) => `if ${name}: ${expression}`),
    ...variables.map(({ name, expression }) => `${name} = ${expression}`),
    ...validations.map(
      ({ expression, messageExpression, reason }) => `${expression}, else ${reason}: ${messageExpression}`,
    ),
    `on errors: ${failurePolicy}`,
  ];
}

const rightsKinds = [
  ...["Role", "ClusterRole", "RoleBinding", "ClusterRoleBinding"],
  ...["ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"],
];

function isRightsObject(object: Manifest): object is RightsObject {
  return rightsKinds.includes(object.kind);
}
