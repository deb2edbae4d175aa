// SPDX-License-Identifier: Apache-2.0
/**
 * What the operator itself does with its token: a row for each thing, with the reason. What is not here it cannot do.
 * Rights that it only hands on, to what it deploys, operator-identity.ts adds.
 */
import { componentInventory } from "./component-inventory.ts";
import { componentKinds } from "./component-kinds.ts";
import type { ComponentSettings } from "./component-settings.ts";

/** A right and its reason. */
export interface OperatorRule {
  readonly why: string;
  /** "" for core. */
  readonly group: string;
  readonly resources: readonly string[];
  readonly names?: readonly string[];
  readonly verbs: readonly string[];
}

const ours = "sriovnetwork.openshift.io";
const read = ["get", "list", "watch"];
const keep = [...read, "create", "patch", "delete"];

/** In the operator's namespace. */
export const namespaceRules: readonly OperatorRule[] = [
  {
    why: "each node's spec, and answers to drain requests",
    group: ours,
    resources: ["sriovnetworknodestates"],
    verbs: keep,
  },
  { why: "what is asked for", group: ours, resources: ["sriovnetworknodepolicies"], verbs: read },
  {
    why: "what is asked for; upstream's finalizers are taken off",
    ...{ group: ours, resources: ["sriovnetworkpoolconfigs", "sriovoperatorconfigs"], verbs: [...read, "patch"] },
  },
  {
    why: "what became of it",
    group: ours,
    resources: [
      "sriovnetworknodepolicies/status",
      "sriovnetworknodestates/status", // how far its drain is
      "sriovnetworkpoolconfigs/status",
      "sriovoperatorconfigs/status",
    ],
    verbs: ["patch"],
  },
  {
    why: "the config owns what is deployed and can be made to wait for its end",
    ...{ group: ours, resources: ["sriovoperatorconfigs/finalizers"], verbs: ["update"] },
  },
  {
    why: "leader election",
    ...{ group: "coordination.k8s.io", resources: ["leases"], verbs: ["get", "create", "update"] },
  },
  { why: "the injector's certificate", group: "", resources: ["secrets"], verbs: [...keep, "update"] },
  // Among them ConfigMaps: the device plugin's configuration, the list of network cards.
  ...[...Map.groupBy(Object.values(componentKinds).filter(isNamespaced), ({ group }) => group)].map(
    ([group, kinds]): OperatorRule => ({
      why: "what is deployed in the namespace",
      ...{ group, resources: kinds.map(({ plural }) => plural), verbs: keep },
    }),
  ),
];

const networks = ["sriovnetworks", "sriovibnetworks", "ovsnetworks", "bridgenetworks"];

/** In all of the cluster. */
export function clusterRules(settings: ComponentSettings): readonly OperatorRule[] {
  return [
    { why: "nodes are selected, labelled and cordoned", group: "", resources: ["nodes"], verbs: [...read, "patch"] },
    { why: "which pods use VFs, and which are left of a drain", group: "", resources: ["pods"], verbs: read },
    { why: "drains", group: "", resources: ["pods/eviction"], verbs: ["create"] },
    { why: "networks wait for their namespaces", group: "", resources: ["namespaces"], verbs: read },
    {
      why: "what is asked for; upstream's finalizers are taken off",
      group: ours,
      resources: networks,
      verbs: [...read, "patch"],
    },
    {
      why: "what became of it",
      ...{ group: ours, resources: networks.map((plural) => `${plural}/status`), verbs: ["patch"] },
    },
    {
      why: "networks become these",
      ...{ group: "k8s.cni.cncf.io", resources: ["network-attachment-definitions"], verbs: keep },
    },
    {
      why: "events are in the namespaces of what they are about",
      ...{ group: "events.k8s.io", resources: ["events"], verbs: ["create", "patch"] },
    },
    {
      why: "its own ClusterRole owns what is deployed outside of namespaces",
      ...{ group: "rbac.authorization.k8s.io", resources: ["clusterroles"], verbs: read },
      names: [settings.operatorServiceAccount],
    },
    ...clusterWideComponents(settings),
    ...(settings.clusterType === "openshift" ? openshiftRules : []),
  ];
}

const openshiftRules: readonly OperatorRule[] = [
  {
    why: "the cluster's TLS profile",
    ...{ group: "config.openshift.io", resources: ["apiservers"], verbs: read },
  },
  {
    why: "pools are paused while their nodes drain",
    group: "machineconfiguration.openshift.io",
    resources: ["machineconfigpools"],
    verbs: [...read, "patch"],
  },
  {
    why: "units of the systemd mode, offload to hardware",
    ...{ group: "machineconfiguration.openshift.io", resources: ["machineconfigs"], verbs: keep },
  },
];

/** By name: who may write any ClusterRole or any webhook may do everything. */
function clusterWideComponents(settings: ComponentSettings): readonly OperatorRule[] {
  const items = componentInventory(settings).filter(({ namespace }) => namespace === undefined);
  return [...Map.groupBy(items, ({ type }) => type)].map(([{ group, plural }, ofType]) => ({
    why: "what is deployed outside of namespaces",
    ...{ group, resources: [plural], names: ofType.map(({ name }) => name), verbs: keep },
  }));
}

function isNamespaced({ namespaced }: { readonly namespaced: boolean }): boolean {
  return namespaced;
}
