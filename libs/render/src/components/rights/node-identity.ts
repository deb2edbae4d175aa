// SPDX-License-Identifier: Apache-2.0
/**
 * nodeIdentity deploys admission policies with restrictions that RBAC cannot express: a process on a node may only
 * write objects of its own node, and only certain parts of them (sriov-operator.md M-18). The token of a pod contains
 * the name of the pod's node; the policies compare it with the name of the object.
 */
import { annotations, draDriverName } from "@switchyard/api";
import { clusterScoped, type Component, type ComponentInput } from "../component.ts";
import type { Manifest, NamedExpression, RequestRule, RoleBinding } from "../objects/kube-objects.ts";
import { policyForUsers, sameEntriesExcept, sameFields } from "./policy-for-users.ts";

const component = "node-identity";

/** Service accounts of processes that run on nodes and write objects of their node. */
const nodeServiceAccounts: readonly string[] = [
  "sriov-network-config-daemon",
  "sriov-device-plugin",
  "sriov-dra-driver",
  "afxdp-device-plugin",
  "afxdp-plugins",
];

/** Claim with the node's name in a token that is bound to a pod; available since Kubernetes 1.30. */
const nodeClaim = "authentication.kubernetes.io/node-name";

interface OwnObjects {
  readonly name: string;
  readonly resources: Pick<RequestRule, "apiGroups" | "apiVersions" | "resources" | "scope">;
  /** Kind, for messages. */
  readonly kind: string;
  /** Annotations that may be changed. Nothing else may be changed, except for the status, which RBAC controls. */
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
    mutableAnnotations: [annotations.desiredState, annotations.useExternalDrainer, annotations.drainVfs],
  },
  {
    name: "switchyard-own-afxdp-node-state",
    resources: {
      apiGroups: ["afxdpnetwork.hns.dev"],
      apiVersions: ["v1alpha1"],
      resources: ["afxdpnetworknodestates", "afxdpnetworknodestates/status"],
      scope: "Namespaced",
    },
    kind: "AfxdpNetworkNodeState",
    mutableAnnotations: [annotations.desiredState],
  },
];

export const nodeIdentity: Component = {
  name: component,
  isWanted: () => true,
  needs: [],
  render: (input) => [...ownObjects.flatMap((own) => limitsOf(own, input)), ...limitsOfSlices(input)],
};

/**
 * Reports whether the manifest grants rights to a process that runs on nodes. Without the admission policies these
 * rights apply to the objects of all nodes, so the policies must be in effect before the manifest is applied.
 */
export function grantsNodeRights(manifest: Manifest): boolean {
  return isRoleBinding(manifest) && manifest.subjects.some(({ name }) => nodeServiceAccounts.includes(name));
}

function isRoleBinding(manifest: Manifest): manifest is RoleBinding {
  return manifest.kind === "RoleBinding" || manifest.kind === "ClusterRoleBinding";
}

function limitsOf(own: OwnObjects, { settings }: ComponentInput): readonly Manifest[] {
  const { resources, kind, mutableAnnotations } = own;
  return policyForUsers({
    metadata: clusterScoped(component, own.name),
    users: nodeServiceAccounts.map((account) => `system:serviceaccount:${settings.namespace}:${account}`),
    condition: "a-process-of-a-node",
    rules: [{ ...resources, operations: ["UPDATE"] }],
    variables: variablesOf(own),
    validations: [
      {
        expression: 'variables.node != ""',
        messageExpression:
          `request.userInfo.username + " may only write the ${kind} of the node that it runs on, but its token contains ` +
          'no node name: use the token of a pod that runs on a node"',
      },
      {
        expression: 'variables.node == "" || request.name == variables.node',
        messageExpression:
          `request.userInfo.username + " on node " + variables.node + " may only write the ${kind} " + ` +
          'variables.node + ", not " + request.name',
      },
      {
        expression:
          'request.?subResource.orValue("") == "status" || (variables.hasSameRest && variables.hasSameAnnotations)',
        messageExpression: `request.userInfo.username + " may only change the ${partsOf(mutableAnnotations)} of the ${kind} " + request.name`,
      },
    ],
  });
}

/** ResourceSlices have any name; whose they are is in their spec, which the API server lets nobody change. */
function limitsOfSlices({ settings }: ComponentInput): readonly Manifest[] {
  const [driver, name] = [JSON.stringify(draDriverName), "switchyard-own-resource-slices"];
  return policyForUsers({
    metadata: clusterScoped(component, name),
    users: nodeServiceAccounts.map((account) => `system:serviceaccount:${settings.namespace}:${account}`),
    condition: "a-process-of-a-node",
    rules: [
      {
        apiGroups: ["resource.k8s.io"],
        apiVersions: ["*"],
        resources: ["resourceslices"],
        scope: "Cluster",
        operations: ["CREATE", "UPDATE", "DELETE"],
      },
    ],
    variables: [nodeVariable, { name: "slice", expression: 'request.operation == "DELETE" ? oldObject : object' }],
    validations: [
      {
        expression: 'variables.node != "" && variables.slice.spec.?nodeName.orValue("") == variables.node',
        messageExpression: 'request.userInfo.username + " may only write ResourceSlices of its node " + variables.node',
      },
      {
        expression: `variables.slice.spec.driver == ${driver}`,
        messageExpression: `request.userInfo.username + " may only write ResourceSlices of the driver " + ${driver}`,
      },
    ],
  });
}

const nodeVariable: NamedExpression = {
  name: "node",
  expression: `request.userInfo.?extra[?"${nodeClaim}"][?0].orValue("")`,
};

function variablesOf({ mutableAnnotations }: OwnObjects): readonly NamedExpression[] {
  const isMutable = `key in ${JSON.stringify(mutableAnnotations)}`;
  return [
    nodeVariable,
    { name: "before", expression: "oldObject.metadata.?annotations.orValue({})" },
    { name: "after", expression: "object.metadata.?annotations.orValue({})" },
    {
      name: "hasSameAnnotations",
      expression: sameEntriesExcept(isMutable, { before: "variables.before", after: "variables.after" }),
    },
    {
      name: "hasSameRest",
      expression: sameFields("?spec", "metadata.?labels", "metadata.?finalizers", "metadata.?ownerReferences"),
    },
  ];
}

/** What may be changed, for messages. */
function partsOf(names: readonly string[]): string {
  if (names.length === 0) return "status";
  return names.length === 1 ? `annotation ${names.join()}` : `annotations ${names.join(" and ")}`;
}
