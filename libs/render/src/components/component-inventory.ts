// SPDX-License-Identifier: Apache-2.0
/**
 * componentInventory lists all objects that this or an earlier release of Switchyard or upstream's operator may have
 * deployed. The operator uses it to find and remove objects that are no longer needed. An object that a new release no
 * longer deploys must stay in this list.
 * Usage: `componentInventory(settings).filter(({ component }) => component === "metrics-exporter")`.
 */
import type { ResourceType } from "@switchyard/api";
import { componentKinds, isComponentKind, type ComponentKind } from "./objects/component-kinds.ts";
import type { ComponentSettings } from "./component-settings.ts";
import { componentNames, type ComponentName } from "./rendered-components.ts";

/** An object that may exist. */
export interface InventoryItem {
  readonly component: ComponentName;
  /** Kind of the object. The kinds of monitoring.coreos.com do not exist in all clusters. */
  readonly type: ResourceType;
  readonly name: string;
  /** Absent for cluster-scoped kinds. */
  readonly namespace?: string;
}

/** Returns the inventory of all components. Kind and name are unique. */
export function componentInventory({ namespace }: Pick<ComponentSettings, "namespace">): readonly InventoryItem[] {
  return componentNames.flatMap((component) =>
    Object.entries(names[component]).flatMap(([kind, namesOfKind]) =>
      isComponentKind(kind) ? namesOfKind.map((name) => itemOf(component, componentKinds[kind], name)) : [],
    ),
  );

  function itemOf(component: ComponentName, type: ResourceType, name: string): InventoryItem {
    return { component, type, name, ...(type.namespaced && { namespace }) };
  }
}

const limitsOfNodes = [
  "switchyard-own-node",
  "switchyard-own-node-state",
  "switchyard-own-afxdp-node-state",
  "switchyard-own-resource-slices",
];

const names: Readonly<Record<ComponentName, Readonly<Partial<Record<ComponentKind, readonly string[]>>>>> = {
  "node-identity": {
    ValidatingAdmissionPolicy: limitsOfNodes,
    ValidatingAdmissionPolicyBinding: limitsOfNodes,
  },
  "operator-webhook": {
    MutatingWebhookConfiguration: ["sriov-operator-webhook-config"],
    ValidatingWebhookConfiguration: ["sriov-operator-webhook-config"],
    DaemonSet: ["operator-webhook"],
    Service: ["operator-webhook-service"],
    NetworkPolicy: ["operator-webhook-allow-traffic-api-server"],
    ServiceAccount: ["operator-webhook-sa"],
    Role: ["operator-webhook"],
    RoleBinding: ["operator-webhook-role-binding"],
    ClusterRole: ["operator-webhook"],
    ClusterRoleBinding: ["operator-webhook-role-binding"],
  },
  "network-resources-injector": {
    MutatingWebhookConfiguration: ["network-resources-injector-config"],
    DaemonSet: ["network-resources-injector"],
    ConfigMap: ["nri-control-switches"],
    Service: ["network-resources-injector-service"],
    NetworkPolicy: ["network-resources-injector-allow-traffic-api-server"],
    ServiceAccount: ["network-resources-injector-sa"],
    Role: ["network-resources-injector"],
    RoleBinding: ["network-resources-injector-role-binding"],
    ClusterRole: ["network-resources-injector"],
    ClusterRoleBinding: ["network-resources-injector-role-binding"],
  },
  "config-daemon": {
    DaemonSet: ["sriov-network-config-daemon"],
    ServiceAccount: ["sriov-network-config-daemon"],
    Role: ["sriov-network-config-daemon"],
    RoleBinding: ["sriov-network-config-daemon"],
    ClusterRole: ["sriov-network-config-daemon"],
    ClusterRoleBinding: ["sriov-network-config-daemon"],
  },
  "device-plugin": {
    // Upstream deployed the DaemonSet sriov-cni before the config daemon had init containers.
    DaemonSet: ["sriov-device-plugin", "sriov-cni"],
    ServiceAccount: ["sriov-device-plugin", "sriov-cni"],
    Role: ["sriov-plugin", "sriov-device-plugin-pod-access"],
    RoleBinding: ["sriov-device-plugin", "sriov-device-plugin-pod-access", "sriov-cni"],
    ClusterRole: ["sriov-device-plugin"],
    ClusterRoleBinding: ["sriov-device-plugin"],
  },
  "dra-driver": {
    DaemonSet: ["sriov-dra-driver"],
    ServiceAccount: ["sriov-dra-driver"],
    // Other operators deploy dra-driver-sriov with the last two, for a container that waits until the node is configured.
    Role: ["sriov-dra-driver", "sriov-dra-driver-pod-access", "sriov-dra-driver-scc"],
    RoleBinding: ["sriov-dra-driver", "sriov-dra-driver-pod-access", "sriov-dra-driver-scc"],
    ClusterRole: ["sriov-dra-driver"],
    ClusterRoleBinding: ["sriov-dra-driver"],
  },
  "afxdp-device-plugin": {
    DaemonSet: ["afxdp-device-plugin"],
    ServiceAccount: ["afxdp-device-plugin"],
    Role: ["afxdp-device-plugin"],
    RoleBinding: ["afxdp-device-plugin"],
    ClusterRole: ["afxdp-device-plugin"],
    ClusterRoleBinding: ["afxdp-device-plugin"],
  },
  "afxdp-plugins": {
    DaemonSet: ["afxdp-plugins"],
    ServiceAccount: ["afxdp-plugins"],
    Role: ["afxdp-plugins"],
    RoleBinding: ["afxdp-plugins"],
  },
  "metrics-exporter": {
    DaemonSet: ["sriov-network-metrics-exporter"],
    Service: ["sriov-network-metrics-exporter-service"],
    ServiceMonitor: ["sriov-network-metrics-exporter"],
    PrometheusRule: ["sriov-vf-rules"],
    ConfigMap: ["sriov-network-metrics-exporter-config"],
    ServiceAccount: ["metrics-exporter-sa"],
    Role: ["metrics-exporter-role", "prometheus-k8s"],
    RoleBinding: ["metrics-exporter-rb", "prometheus-k8s"],
    ClusterRole: ["sriov-metrics-kube-rbac-role"],
    ClusterRoleBinding: ["sriov-metrics-kube-rbac-rolebinding"],
  },
};
