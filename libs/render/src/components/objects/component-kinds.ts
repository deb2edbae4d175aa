// SPDX-License-Identifier: Apache-2.0
/** componentKinds has the API resource of each kind that the operator deploys. */
import type { ResourceType } from "@switchyard/api";
import type { Manifest } from "./kube-objects.ts";

const rbac = { group: "rbac.authorization.k8s.io", version: "v1" };
const admission = { group: "admissionregistration.k8s.io", version: "v1", namespaced: false };
const monitoring = { group: "monitoring.coreos.com", version: "v1", namespaced: true };

/** API resources by kind. No two deployed kinds have the same name. */
export const componentKinds = {
  ServiceAccount: { group: "", version: "v1", kind: "ServiceAccount", plural: "serviceaccounts", namespaced: true },
  Service: { group: "", version: "v1", kind: "Service", plural: "services", namespaced: true },
  ConfigMap: { group: "", version: "v1", kind: "ConfigMap", plural: "configmaps", namespaced: true },
  DaemonSet: { group: "apps", version: "v1", kind: "DaemonSet", plural: "daemonsets", namespaced: true },
  Role: { ...rbac, kind: "Role", plural: "roles", namespaced: true },
  RoleBinding: { ...rbac, kind: "RoleBinding", plural: "rolebindings", namespaced: true },
  ClusterRole: { ...rbac, kind: "ClusterRole", plural: "clusterroles", namespaced: false },
  ClusterRoleBinding: { ...rbac, kind: "ClusterRoleBinding", plural: "clusterrolebindings", namespaced: false },
  NetworkPolicy: {
    group: "networking.k8s.io",
    version: "v1",
    namespaced: true,
    kind: "NetworkPolicy",
    plural: "networkpolicies",
  },
  MutatingWebhookConfiguration: {
    ...admission,
    kind: "MutatingWebhookConfiguration",
    plural: "mutatingwebhookconfigurations",
  },
  ValidatingWebhookConfiguration: {
    ...admission,
    kind: "ValidatingWebhookConfiguration",
    plural: "validatingwebhookconfigurations",
  },
  ValidatingAdmissionPolicy: {
    ...admission,
    kind: "ValidatingAdmissionPolicy",
    plural: "validatingadmissionpolicies",
  },
  ValidatingAdmissionPolicyBinding: {
    ...admission,
    kind: "ValidatingAdmissionPolicyBinding",
    plural: "validatingadmissionpolicybindings",
  },
  ServiceMonitor: { ...monitoring, kind: "ServiceMonitor", plural: "servicemonitors" },
  PrometheusRule: { ...monitoring, kind: "PrometheusRule", plural: "prometheusrules" },
} as const satisfies Readonly<Record<string, ResourceType>>;

/** A kind that the operator deploys. */
export type ComponentKind = keyof typeof componentKinds;

/** Reports whether the operator deploys objects of this kind. */
export function isComponentKind(kind: string): kind is ComponentKind {
  return Object.hasOwn(componentKinds, kind);
}

/** Returns the API resource of an object. Throws RangeError for a kind that the operator does not deploy. */
export function resourceTypeOf({ kind }: Manifest): ResourceType {
  if (!isComponentKind(kind)) throw new RangeError(`${kind} is not a kind that the operator deploys`);
  return componentKinds[kind];
}
