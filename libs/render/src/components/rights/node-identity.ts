// SPDX-License-Identifier: Apache-2.0
/**
 * What RBAC cannot say: a process on a node writes what is its own node's only, and of that no more than it has to
 * (sriov-operator.md M-18). A pod's token names the node that the pod runs on; admission policies compare it with what is written.
 */
import { annotations } from "@switchyard/api";
import { clusterScoped, type Component, type ComponentInput } from "../component.ts";
import type {
  NamedExpression,
  RequestRule,
  RoleBinding,
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
} from "../objects/kube-objects.ts";
import type { Manifest } from "../objects/manifest.ts";

const component = "node-identity";
const apiVersion = "admissionregistration.k8s.io/v1";

/** Who writes objects of its node, on each node with a token. */
const nodeServiceAccounts: readonly string[] = ["sriov-network-config-daemon", "sriov-device-plugin"];

/** The claim of a token that is bound to a pod or a node; Kubernetes has it since 1.30. */
const nodeClaim = "authentication.kubernetes.io/node-name";

interface OwnObjects {
  readonly name: string;
  readonly resources: Pick<RequestRule, "apiGroups" | "apiVersions" | "resources" | "scope">;
  /** For messages. */
  readonly kind: string;
  /** All that may change but for the status, which RBAC gives or does not. */
  readonly mutableAnnotations: readonly string[];
}

const ownObjects: readonly OwnObjects[] = [
  {
    name: "switchyard-own-node",
    resources: { apiGroups: [""], apiVersions: ["v1"], resources: ["nodes", "nodes/status"], scope: "Cluster" },
    kind: "Node",
    mutableAnnotations: [annotations.nodeState],
  },
  {
    name: "switchyard-own-node-state",
    resources: {
      apiGroups: ["sriovnetwork.openshift.io"],
      apiVersions: ["v1"],
      resources: ["sriovnetworknodestates", "sriovnetworknodestates/status"],
      scope: "Namespaced",
    },
    kind: "SriovNetworkNodeState",
    mutableAnnotations: [annotations.desiredState, annotations.useExternalDrainer],
  },
];

export const nodeIdentity: Component = {
  name: component,
  isWanted: () => true,
  needs: [],
  render: (input) => ownObjects.flatMap((own) => [policyOf(own, input), bindingOf(own)]),
};

/**
 * Whether it gives rights to a process on nodes. Without the policies these rights reach the objects of all nodes, so it
 * must not be there before the policies are.
 */
export function grantsNodeRights(manifest: Manifest): boolean {
  return isRoleBinding(manifest) && manifest.subjects.some(({ name }) => nodeServiceAccounts.includes(name));
}

function isRoleBinding(manifest: Manifest): manifest is RoleBinding {
  return manifest.kind === "RoleBinding" || manifest.kind === "ClusterRoleBinding";
}

function policyOf(own: OwnObjects, { settings }: ComponentInput): ValidatingAdmissionPolicy {
  const users = nodeServiceAccounts.map((account) => `system:serviceaccount:${settings.namespace}:${account}`);
  return {
    apiVersion,
    kind: "ValidatingAdmissionPolicy",
    metadata: clusterScoped(component, own.name),
    spec: {
      failurePolicy: "Fail",
      matchConstraints: {
        resourceRules: [{ ...own.resources, operations: ["UPDATE"] }],
        ...{ matchPolicy: "Equivalent", namespaceSelector: {}, objectSelector: {} },
      },
      matchConditions: [
        { name: "a-process-of-a-node", expression: `request.userInfo.username in ${JSON.stringify(users)}` },
      ],
      variables: variablesOf(own),
      validations: [
        {
          expression: 'variables.node != ""',
          messageExpression:
            `request.userInfo.username + " may write the ${own.kind} of the node that it runs on, but its token names ` +
            'no node: use the token of a pod that runs on one"',
        },
        {
          expression: 'variables.node == "" || request.name == variables.node',
          messageExpression:
            `request.userInfo.username + " on node " + variables.node + " may write the ${own.kind} " + ` +
            'variables.node + " only, not " + request.name',
        },
        {
          expression:
            'request.?subResource.orValue("") == "status" || (variables.hasSameRest && variables.hasSameAnnotations)',
          messageExpression:
            `request.userInfo.username + " may change only the ${nounFor(own.mutableAnnotations)} ` +
            `${own.mutableAnnotations.join(" and ")} of the ${own.kind} " + request.name`,
        },
      ].map((validation) => ({ ...validation, reason: "Forbidden" as const })),
    },
  };
}

/** Computed when a validation asks for them only. */
function variablesOf({ mutableAnnotations }: OwnObjects): readonly NamedExpression[] {
  const isMutable = `key in ${JSON.stringify(mutableAnnotations)}`;
  const same = (field: string) => `object.${field} == oldObject.${field}`;
  const fields = ["?spec", "metadata.?labels", "metadata.?finalizers", "metadata.?ownerReferences"];
  return [
    { name: "node", expression: `request.userInfo.?extra[?"${nodeClaim}"][?0].orValue("")` },
    { name: "before", expression: "oldObject.metadata.?annotations.orValue({})" },
    { name: "after", expression: "object.metadata.?annotations.orValue({})" },
    {
      name: "hasSameAnnotations",
      expression:
        `variables.before.all(key, ${isMutable} || key in variables.after) && variables.after.all(key, ` +
        `${isMutable} || (key in variables.before && variables.before[key] == variables.after[key]))`,
    },
    { name: "hasSameRest", expression: fields.map(same).join(" && ") },
  ];
}

function bindingOf({ name }: OwnObjects): ValidatingAdmissionPolicyBinding {
  return {
    apiVersion,
    kind: "ValidatingAdmissionPolicyBinding",
    metadata: clusterScoped(component, name),
    spec: { policyName: name, validationActions: ["Deny"] },
  };
}

function nounFor(names: readonly string[]): string {
  return names.length === 1 ? "annotation" : "annotations";
}
