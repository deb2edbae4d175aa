// SPDX-License-Identifier: Apache-2.0
/**
 * The rights that the operator uses itself, each with the reason. operator-identity.ts adds the rights that it grants
 * to the components.
 */
import { operatorConfigName } from "@switchyard/api";
import { componentInventory } from "../component-inventory.ts";
import { componentKinds } from "../objects/component-kinds.ts";
import type { ComponentSettings } from "../component-settings.ts";
import type { RuleWithReason } from "./access.ts";

const sriov = "sriovnetwork.openshift.io";
const afxdp = "afxdpnetwork.hns.dev";
const read = ["get", "list", "watch"];
const manage = [...read, "create", "patch", "delete"];

/** Lease of the leader election. */
const leaseName = "switchyard-operator";

/** ConfigMap in upstream's format, which --write-configmap enables. */
const devicePluginConfigMapName = "device-plugin-config";

/** Returns the rights in the operator's namespace. */
export function namespaceRules(settings: ComponentSettings): readonly RuleWithReason[] {
  return [
    {
      why: "writes the spec of each node and answers drain requests",
      group: sriov,
      resources: ["sriovnetworknodestates"],
      verbs: manage,
    },
    { why: "reads policies", group: sriov, resources: ["sriovnetworknodepolicies"], verbs: read },
    {
      why: "reads pools and configs, and removes upstream's finalizers",
      group: sriov,
      resources: ["sriovnetworkpoolconfigs", "sriovoperatorconfigs"],
      verbs: [...read, "patch"],
    },
    {
      why: "writes status",
      group: sriov,
      resources: [
        "sriovnetworknodepolicies/status",
        "sriovnetworknodestates/status", // conditions of the drain
        "sriovnetworkpoolconfigs/status",
        "sriovoperatorconfigs/status",
      ],
      verbs: ["patch"],
    },
    {
      why: "sets the config as owner of the components, with blockOwnerDeletion",
      group: sriov,
      resources: ["sriovoperatorconfigs/finalizers"],
      names: [operatorConfigName],
      verbs: ["update"],
    },
    {
      why: "writes the AF_XDP devices of each node",
      group: afxdp,
      resources: ["afxdpnetworknodestates"],
      verbs: manage,
    },
    {
      why: "reads AF_XDP policies and their config",
      group: afxdp,
      resources: ["afxdpnetworknodepolicies", "afxdpoperatorconfigs"],
      verbs: read,
    },
    {
      why: "writes status",
      group: afxdp,
      resources: [
        "afxdpnetworknodepolicies/status",
        "afxdpnetworknodestates/status", // conditions of the drain, failures of the operator, programs of bpfman
        "afxdpoperatorconfigs/status",
      ],
      verbs: ["patch"],
    },
    {
      why: "sets the config as owner of the AF_XDP node states, with blockOwnerDeletion",
      group: afxdp,
      resources: ["afxdpoperatorconfigs/finalizers"],
      names: [operatorConfigName],
      verbs: ["update"],
    },
    {
      why: "leader election",
      group: "coordination.k8s.io",
      resources: ["leases"],
      names: [leaseName],
      verbs: ["get", "update"],
    },
    {
      why: "leader election; RBAC cannot limit create by name",
      group: "coordination.k8s.io",
      resources: ["leases"],
      verbs: ["create"],
    },
    {
      why: "quotes why the pods of a component are not created; RBAC cannot limit lists by object",
      group: "events.k8s.io",
      resources: ["events"],
      verbs: ["list"],
    },
    ...certificateRules(settings),
    ...namespacedComponents(settings),
    {
      why: "writes upstream's ConfigMap",
      group: "",
      resources: ["configmaps"],
      names: [devicePluginConfigMapName],
      verbs: ["create", "patch"],
    },
  ];
}

/**
 * Limited to the Secrets of the certificates that the operator creates, because the namespace may contain users' keys.
 */
function certificateRules({ webhook, injector }: ComponentSettings): readonly RuleWithReason[] {
  const servers = [webhook, injector].filter(({ certificates }) => certificates.kind === "self-made");
  if (servers.length === 0) return [];
  const of = { group: "", resources: ["secrets"] };
  const names = [...new Set(servers.map(({ secretName }) => secretName))];
  return [
    { why: "writes the certificates of webhook and injector", ...of, names, verbs: [...read, "update", "delete"] },
    { why: "creates the certificates; RBAC cannot limit create by name", ...of, verbs: ["create"] },
  ];
}

/**
 * The operator may read all objects of these kinds, because the list of names would be long, and write the named ones.
 * RBAC can limit server-side apply by name even if it creates the object.
 */
function namespacedComponents(settings: ComponentSettings): readonly RuleWithReason[] {
  const kinds = Object.values(componentKinds).filter(({ namespaced }) => namespaced);
  const reading = [...Map.groupBy(kinds, ({ group }) => group)].map(([group, ofGroup]) => ({
    why: "reads components",
    group,
    resources: ofGroup.map(({ plural }) => plural),
    verbs: read,
  }));
  return [...reading, ...writingByName(settings, "namespaced", ["create", "patch", "delete"])];
}

const networks = ["sriovnetworks", "sriovibnetworks", "ovsnetworks", "bridgenetworks"];

/** Returns the rights in the whole cluster. */
export function clusterRules(settings: ComponentSettings): readonly RuleWithReason[] {
  return [
    { why: "selects, labels and cordons nodes", group: "", resources: ["nodes"], verbs: [...read, "patch"] },
    { why: "finds pods that use VFs, and pods to evict", group: "", resources: ["pods"], verbs: read },
    { why: "evicts pods during drains", group: "", resources: ["pods/eviction"], verbs: ["create"] },
    {
      why: "finds the devices that are allocated to the pods of a drain, and says what is missing for claims of waiting pods",
      group: "resource.k8s.io",
      resources: ["resourceclaims"],
      verbs: ["get", "list"],
    },
    {
      why: "finds the PCI addresses of these devices",
      group: "resource.k8s.io",
      resources: ["resourceslices"],
      verbs: ["list"],
    },
    {
      why: "keeps a DeviceClass for each resource",
      group: "resource.k8s.io",
      resources: ["deviceclasses"],
      verbs: manage,
    },
    { why: "waits for the namespaces of networks", group: "", resources: ["namespaces"], verbs: read },
    {
      why: "sees whether objects are lost with their kind, before it takes anything from nodes and pods",
      group: "apiextensions.k8s.io",
      resources: ["customresourcedefinitions"],
      names: [
        ...["sriovnetworknodepolicies", "sriovnetworkpoolconfigs", "sriovoperatorconfigs", ...networks].map(
          (plural) => `${plural}.${sriov}`,
        ),
        ...["afxdpnetworknodepolicies", "afxdpoperatorconfigs", "afxdpnetworks"].map((plural) => `${plural}.${afxdp}`),
      ],
      verbs: ["get"],
    },
    {
      why: "reads networks, and removes upstream's finalizers",
      group: sriov,
      resources: networks,
      verbs: [...read, "patch"],
    },
    {
      why: "writes status",
      group: sriov,
      resources: networks.map((plural) => `${plural}/status`),
      verbs: ["patch"],
    },
    {
      why: "reads networks",
      group: afxdp,
      resources: ["afxdpnetworks"],
      verbs: read,
    },
    { why: "writes status", group: afxdp, resources: ["afxdpnetworks/status"], verbs: ["patch"] },
    {
      why: "makes bpfman load the programs of AF_XDP devices; their names follow from nodes and devices",
      group: "bpfman.io",
      resources: ["clusterbpfapplications", "xdpprograms"],
      verbs: manage,
    },
    {
      why: "reads whether bpfman has loaded the programs",
      group: "bpfman.io",
      resources: ["clusterbpfapplicationstates", "bpfprograms"],
      verbs: read,
    },
    {
      why: "renders networks",
      group: "k8s.cni.cncf.io",
      resources: ["network-attachment-definitions"],
      verbs: manage,
    },
    {
      why: "writes events to the namespaces of the objects that they are about",
      group: "events.k8s.io",
      resources: ["events"],
      verbs: ["create", "patch"],
    },
    {
      why: "sets its own ClusterRole as owner of cluster-scoped components",
      group: "rbac.authorization.k8s.io",
      resources: ["clusterroles"],
      verbs: read,
      names: [settings.operatorServiceAccount],
    },
    ...writingByName(settings, "cluster", manage),
    ...(settings.clusterType === "openshift" ? openshiftRules : []),
  ];
}

const openshiftRules: readonly RuleWithReason[] = [
  {
    why: "reads the cluster's TLS profile and whether its control plane is hosted",
    group: "config.openshift.io",
    resources: ["apiservers", "infrastructures"],
    names: ["cluster"],
    verbs: read,
  },
  {
    why: "pauses MachineConfigPools while their nodes are drained",
    group: "machineconfiguration.openshift.io",
    resources: ["machineconfigpools"],
    verbs: [...read, "patch"],
  },
  {
    why: "writes MachineConfigs for hardware offload and the units of the systemd mode",
    group: "machineconfiguration.openshift.io",
    resources: ["machineconfigs"],
    verbs: manage,
  },
];

/**
 * Lists each object by name, because the right to write any ClusterRole or any webhook configuration means full access.
 */
function writingByName(
  settings: ComponentSettings,
  scope: "namespaced" | "cluster",
  verbs: readonly string[],
): readonly RuleWithReason[] {
  const items = componentInventory(settings).filter(({ type }) => type.namespaced === (scope === "namespaced"));
  return [...Map.groupBy(items, ({ type }) => type)].map(([{ group, plural }, ofType]) => ({
    why: scope === "namespaced" ? "writes namespaced components" : "writes cluster-scoped components",
    group,
    resources: [plural],
    names: ofType.map(({ name }) => name),
    verbs,
  }));
}
