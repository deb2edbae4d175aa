// SPDX-License-Identifier: Apache-2.0
/**
 * Kubernetes kinds of the fault tests, in addition to Switchyard's own kinds.
 */
import { customResources, networkAttachmentDefinitions, nodes, pods, type ResourceType } from "@switchyard/api";

export const namespaces = { group: "", version: "v1", kind: "Namespace", plural: "namespaces", namespaced: false };
export const daemonSets = { group: "apps", version: "v1", kind: "DaemonSet", plural: "daemonsets", namespaced: true };
export const serviceAccounts = {
  group: "",
  version: "v1",
  namespaced: true,
  kind: "ServiceAccount",
  plural: "serviceaccounts",
};
export const podDisruptionBudgets = {
  group: "policy",
  version: "v1",
  namespaced: true,
  kind: "PodDisruptionBudget",
  plural: "poddisruptionbudgets",
};
export const leases = {
  group: "coordination.k8s.io",
  version: "v1",
  namespaced: true,
  kind: "Lease",
  plural: "leases",
};

const rbac = { group: "rbac.authorization.k8s.io", version: "v1" };
const admission = { group: "admissionregistration.k8s.io", version: "v1", namespaced: false };
const core = { group: "", version: "v1", namespaced: true };

/** The observed kinds: all that the product writes or acts upon. */
export const observedTypes: readonly ResourceType[] = [
  ...customResources,
  ...[networkAttachmentDefinitions, nodes, namespaces, pods, serviceAccounts, daemonSets],
  { ...core, kind: "ConfigMap", plural: "configmaps" },
  { ...core, kind: "Service", plural: "services" },
  { group: "networking.k8s.io", version: "v1", kind: "NetworkPolicy", plural: "networkpolicies", namespaced: true },
  { ...rbac, kind: "Role", plural: "roles", namespaced: true },
  { ...rbac, kind: "RoleBinding", plural: "rolebindings", namespaced: true },
  { ...rbac, kind: "ClusterRole", plural: "clusterroles", namespaced: false },
  { ...rbac, kind: "ClusterRoleBinding", plural: "clusterrolebindings", namespaced: false },
  { ...admission, kind: "MutatingWebhookConfiguration", plural: "mutatingwebhookconfigurations" },
  { ...admission, kind: "ValidatingWebhookConfiguration", plural: "validatingwebhookconfigurations" },
  { ...admission, kind: "ValidatingAdmissionPolicy", plural: "validatingadmissionpolicies" },
  { ...admission, kind: "ValidatingAdmissionPolicyBinding", plural: "validatingadmissionpolicybindings" },
];
