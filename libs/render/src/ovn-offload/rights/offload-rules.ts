// SPDX-License-Identifier: Apache-2.0
/**
 * The rules of the roles of ovn-offload, each with the reason. offload-limits.ts limits what RBAC cannot limit by name.
 * Usage: `const { inCluster, inNamespaces } = writingRules(settings);`
 */
import { operatorConfigName } from "@switchyard/api";
import type { RuleWithReason } from "../../components/rights/access.ts";
import type { OffloadNetworkName } from "../offload-network.ts";
import { offloadConfigMaps, plainManagementPorts, type ConfigMapName } from "../management-port-maps.ts";

export interface RulesByScope {
  readonly inCluster: readonly RuleWithReason[];
  readonly inNamespaces: readonly NamespaceRules[];
}

interface NamespaceRules {
  readonly namespace: string;
  /** End of the role's name, if there are several roles that could be in one namespace. */
  readonly suffix?: string;
  readonly rules: readonly RuleWithReason[];
}

/**
 * OvnOffloadIdentitySettings are what the rights of ovn-offload depend on.
 * Settings of the chart.
 */
export interface OvnOffloadIdentitySettings {
  /** Namespace of the operator and of ovn-offload. */
  readonly namespace: string;
  /** Name of the service account, and beginning of the names of all other objects. */
  readonly serviceAccount: string;
  readonly clusterType: "kubernetes" | "openshift";
  /** Namespace of OVN-Kubernetes in clusters other than OpenShift. */
  readonly ovnNamespace: string;
  /** Where the NetworkAttachmentDefinitions for pods are. */
  readonly network: OffloadNetworkName;
  /** Key of the label that the key dpu-host-mode-label of hardware-offload-config names; the default is always allowed. */
  readonly hostLabel: string;
}

/** Lease of the leader election. */
export const ovnOffloadLease = "switchyard-ovn-offload";

const sriov = "sriovnetwork.openshift.io";
const machineConfiguration = "machineconfiguration.openshift.io";
const read = ["get", "list", "watch"];
const manage = ["create", "patch", "delete"];

/** Without OpenShift's kinds, the API server answers that they do not exist. */
export function readingRules({ namespace, ovnNamespace, network }: OvnOffloadIdentitySettings): RulesByScope {
  const maps = Object.values(ovnOffloadMaps({ clusterType: "openshift", ovnNamespace }));
  return {
    inCluster: [
      { why: "reads labels and taints of hosts", group: "", resources: ["nodes"], verbs: read },
      { why: "counts pods on hosts that cannot start", group: "", resources: ["pods"], verbs: ["list"] },
      {
        why: "finds out whether OVN-Kubernetes is there",
        group: "",
        resources: ["namespaces"],
        verbs: read,
        names: [...new Set([...maps.map((map) => map.namespace), ovnNamespace])],
      },
      {
        why: "reads the management ports and the settings of the network operator",
        group: "",
        resources: ["configmaps"],
        names: maps.map(({ name }) => name),
        verbs: read,
      },
      {
        why: "reads pools, and which MachineConfigs exist",
        group: machineConfiguration,
        resources: ["machineconfigpools", "machineconfigs"],
        verbs: read,
      },
      {
        why: "reads the placement of DNS",
        group: "operator.openshift.io",
        resources: ["dnses"],
        names: ["default"],
        verbs: read,
      },
      {
        why: "reads the version of OpenShift",
        group: "config.openshift.io",
        resources: ["clusterversions"],
        names: ["version"],
        verbs: read,
      },
    ],
    inNamespaces: [
      {
        namespace,
        rules: [
          {
            why: "reads NICs of nodes, and policies",
            group: sriov,
            resources: ["sriovnetworknodestates", "sriovnetworknodepolicies"],
            verbs: read,
          },
          {
            why: "reads which hosts are selected",
            group: sriov,
            resources: ["sriovoperatorconfigs"],
            names: [operatorConfigName],
            verbs: read,
          },
          {
            why: "writes status",
            group: sriov,
            resources: ["sriovoperatorconfigs/status"],
            names: [operatorConfigName],
            verbs: ["patch"],
          },
          {
            why: "writes events on the SriovOperatorConfig and the node states",
            group: "events.k8s.io",
            resources: ["events"],
            verbs: ["create", "patch"],
          },
          {
            why: "leader election",
            group: "coordination.k8s.io",
            resources: ["leases"],
            names: [ovnOffloadLease],
            verbs: ["get", "update"],
          },
          {
            why: "leader election; RBAC cannot limit create by name",
            group: "coordination.k8s.io",
            resources: ["leases"],
            verbs: ["create"],
          },
        ],
      },
      {
        namespace: network.namespace,
        suffix: "-networks",
        rules: [{ why: "finds its networks for pods, and those of others with their names", ...nads, verbs: read }],
      },
    ],
  };
}

const nads = { group: "k8s.cni.cncf.io", resources: ["network-attachment-definitions"] };

export function writingRules(settings: OvnOffloadIdentitySettings): RulesByScope {
  const maps = Map.groupBy(Object.values(ovnOffloadMaps(settings)), (map) => map.namespace);
  const ofMaps = [...maps].map(([namespace, ofNamespace]): NamespaceRules => ({
    namespace,
    suffix: "-config-maps",
    rules: [
      { why: "creates its ConfigMaps; RBAC cannot limit create by name", ...configMaps, verbs: ["create"] },
      {
        why: "publishes management ports",
        ...configMaps,
        names: ofNamespace.map(({ name }) => name),
        verbs: ["patch", "delete"],
      },
    ],
  }));
  return {
    inCluster: [
      { why: "labels and taints hosts", group: "", resources: ["nodes"], verbs: ["patch"] },
      ...(settings.clusterType === "openshift" ? openshiftRules : []),
    ],
    inNamespaces: [
      {
        namespace: settings.namespace,
        rules: [
          {
            why: "writes the policies of pools",
            group: sriov,
            resources: ["sriovnetworknodepolicies"],
            verbs: manage,
          },
        ],
      },
      ...ofMaps,
      {
        namespace: settings.network.namespace,
        suffix: "-networks",
        rules: [{ why: "writes the networks by which pods get a VF", ...nads, verbs: manage }],
      },
    ],
  };
}

const configMaps = { group: "", resources: ["configmaps"] };

const openshiftRules: readonly RuleWithReason[] = [
  {
    why: "makes the hosts of a pool boot without Open vSwitch",
    group: machineConfiguration,
    resources: ["machineconfigs"],
    verbs: manage,
  },
  {
    why: "keeps DNS off the hosts",
    group: "operator.openshift.io",
    resources: ["dnses"],
    names: ["default"],
    verbs: ["patch"],
  },
];

/** ovnOffloadMaps returns the ConfigMaps that ovn-offload writes in a cluster of this type. */
export function ovnOffloadMaps({
  clusterType,
  ovnNamespace,
}: Pick<OvnOffloadIdentitySettings, "clusterType" | "ovnNamespace">): Readonly<
  Partial<Record<keyof typeof offloadConfigMaps, ConfigMapName>>
> {
  if (clusterType === "openshift") return offloadConfigMaps;
  return { managementPorts: { namespace: ovnNamespace, name: plainManagementPorts } };
}
