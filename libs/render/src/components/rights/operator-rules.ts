// SPDX-License-Identifier: Apache-2.0
/**
 * What the operator itself does with its token: a row for each thing, with the reason. What is not here it cannot do.
 * Rights that it only hands on, to what it deploys, operator-identity.ts adds.
 */
import { operatorConfigName } from "@switchyard/api";
import { componentInventory } from "../component-inventory.ts";
import { componentKinds } from "../objects/component-kinds.ts";
import type { ComponentSettings } from "../component-settings.ts";

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

/** Lease of the replica that works. */
const leaseName = "switchyard-operator";

/** ConfigMap in upstream's format, where --write-configmap asks for it. */
const devicePluginConfigMapName = "device-plugin-config";

/** In the operator's namespace. */
export function namespaceRules(settings: ComponentSettings): readonly OperatorRule[] {
  return [
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
      ...{
        group: ours,
        resources: ["sriovoperatorconfigs/finalizers"],
        names: [operatorConfigName],
        verbs: ["update"],
      },
    },
    {
      why: "leader election",
      ...{ group: "coordination.k8s.io", resources: ["leases"], names: [leaseName], verbs: ["get", "update"] },
    },
    {
      why: "leader election; a POST names no object, so no name can limit it",
      ...{ group: "coordination.k8s.io", resources: ["leases"], verbs: ["create"] },
    },
    ...certificateRules(settings),
    ...namespacedComponents(settings),
    {
      why: "upstream's ConfigMap",
      ...{ group: "", resources: ["configmaps"], names: [devicePluginConfigMapName], verbs: ["create", "patch"] },
    },
  ];
}

/** Secrets of the certificates that the operator makes, and no others: keys of users are in this namespace, too. */
function certificateRules({ webhook, injector }: ComponentSettings): readonly OperatorRule[] {
  const servers = [webhook, injector].filter(({ certificates }) => certificates.kind === "self-made");
  if (servers.length === 0) return [];
  const of = { group: "", resources: ["secrets"] };
  const names = [...new Set(servers.map(({ secretName }) => secretName))];
  return [
    { why: "certificates of webhook and injector", ...of, names, verbs: [...read, "update", "delete"] },
    { why: "the same; a POST names no object, so no name can limit it", ...of, verbs: ["create"] },
  ];
}

/** Read by kind, as there are many names; written by name. Server-side apply names the object also where it creates it. */
function namespacedComponents(settings: ComponentSettings): readonly OperatorRule[] {
  const kinds = Object.values(componentKinds).filter(({ namespaced }) => namespaced);
  const reading = [...Map.groupBy(kinds, ({ group }) => group)].map(([group, ofGroup]) => ({
    why: "what is deployed in the namespace",
    ...{ group, resources: ofGroup.map(({ plural }) => plural), verbs: read },
  }));
  return [...reading, ...writingByName(settings, "namespaced", ["create", "patch", "delete"])];
}

const networks = ["sriovnetworks", "sriovibnetworks", "ovsnetworks", "bridgenetworks"];

/** In all of the cluster. */
export function clusterRules(settings: ComponentSettings): readonly OperatorRule[] {
  return [
    { why: "nodes are selected, labelled and cordoned", group: "", resources: ["nodes"], verbs: [...read, "patch"] },
    { why: "which pods use VFs, and which are left of a drain", group: "", resources: ["pods"], verbs: read },
    { why: "drains", group: "", resources: ["pods/eviction"], verbs: ["create"] },
    {
      why: "which devices the pods of a drain have been allocated",
      ...{ group: "resource.k8s.io", resources: ["resourceclaims"], verbs: ["get"] },
    },
    {
      why: "which PCI addresses these devices have",
      ...{ group: "resource.k8s.io", resources: ["resourceslices"], verbs: ["list"] },
    },
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
    ...writingByName(settings, "cluster", keep),
    ...(settings.clusterType === "openshift" ? openshiftRules : []),
  ];
}

const openshiftRules: readonly OperatorRule[] = [
  {
    why: "the cluster's TLS profile, and whether its control plane is hosted elsewhere",
    ...{ group: "config.openshift.io", resources: ["apiservers", "infrastructures"], names: ["cluster"], verbs: read },
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

/** Who may write any ClusterRole or any webhook may do everything, so each object is named. */
function writingByName(
  settings: ComponentSettings,
  scope: "namespaced" | "cluster",
  verbs: readonly string[],
): readonly OperatorRule[] {
  const items = componentInventory(settings).filter(({ type }) => type.namespaced === (scope === "namespaced"));
  return [...Map.groupBy(items, ({ type }) => type)].map(([{ group, plural }, ofType]) => ({
    why: scope === "namespaced" ? "what is deployed in the namespace" : "what is deployed outside of namespaces",
    ...{ group, resources: [plural], names: ofType.map(({ name }) => name), verbs },
  }));
}
