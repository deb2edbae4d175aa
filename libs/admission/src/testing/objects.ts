// SPDX-License-Identifier: Apache-2.0
/**
 * Objects for tests, invented: each builder gives a valid one, and takes what the test cares about.
 * Usage: `admit(create(policy("p1", { numVfs: 9 })), view({ nodes: [node("w1", [pf()])] }), still)`.
 */
import type {
  InterfaceStatus,
  SriovNetwork,
  SriovNetworkNodePolicy,
  SriovNetworkNodePolicySpec,
  SriovNetworkPoolConfig,
  SriovNetworkPoolConfigSpec,
  SriovNetworkSpec,
  SriovOperatorConfig,
  SriovOperatorConfigSpec,
  SystemSettings,
  VfStatus,
} from "@switchyard/api";
import { emptyView, type ClusterView } from "../cluster-view.ts";
import { createStateReader, type NodeFacts } from "../node-facts.ts";
import type { Review } from "../review.ts";

export const namespace = "sriov-network-operator";
const apiVersion = "sriovnetwork.openshift.io/v1";

/** A clock that stands still. */
export const still = { nowMs: () => 0 };

/** 0000:3b:00.0 "ens1f0", Intel, up, without VFs of 64. */
export function pf(overrides: Partial<InterfaceStatus> = {}): InterfaceStatus {
  return {
    pciAddress: "0000:3b:00.0",
    name: "ens1f0",
    mac: "02:00:00:00:00:01",
    driver: "i40e",
    vendor: "8086",
    deviceID: "158b",
    mtu: 1500,
    maxMtu: 9702,
    numVfs: 0,
    totalvfs: 64,
    linkType: "ETH",
    linkSpeed: "25000 Mb/s",
    linkAdminState: "up",
    eSwitchMode: "legacy",
    ...overrides,
  };
}

/** VFs as the daemon leaves them. */
export function vfs(count: number, overrides: Partial<VfStatus> = {}): readonly VfStatus[] {
  return Array.from({ length: count }, (_, vfID) => ({
    pciAddress: `0000:3b:02.${vfID}`,
    vfID,
    name: `ens1f0v${vfID}`,
    mac: `02:00:00:00:01:0${vfID}`,
    adminMac: `02:00:00:00:01:0${vfID}`,
    driver: "iavf",
    mtu: 1500,
    ...overrides,
  }));
}

const readState = createStateReader();

/** A Linux worker, discovered where PFs are given. */
export function node(
  name: string,
  pfs: readonly InterfaceStatus[] = [],
  {
    labels = {},
    syncStatus = "Succeeded",
    system = {},
  }: { readonly labels?: NodeFacts["labels"]; readonly syncStatus?: string; readonly system?: SystemSettings } = {},
): NodeFacts {
  return {
    name,
    labels: {
      "node-role.kubernetes.io/worker": "",
      "kubernetes.io/os": "linux",
      "kubernetes.io/hostname": name,
      ...labels,
    },
    ...(pfs.length > 0 ? { state: readState({ status: { interfaces: pfs, system, syncStatus } }) } : {}),
  };
}

/** Of priority 99, for all nodes: 8 VFs on ens1f0 for the resource "<name>res". */
export function policy(
  name: string,
  spec: Partial<SriovNetworkNodePolicySpec> = {},
  inNamespace = namespace,
): SriovNetworkNodePolicy {
  return {
    apiVersion,
    kind: "SriovNetworkNodePolicy",
    metadata: { name, namespace: inNamespace },
    spec: {
      resourceName: `${name}res`,
      nodeSelector: {},
      priority: 99,
      numVfs: 8,
      nicSelector: { pfNames: ["ens1f0"] },
      deviceType: "netdevice",
      isRdma: false,
      ...spec,
    },
  };
}

export function pool(name: string, spec: SriovNetworkPoolConfigSpec): SriovNetworkPoolConfig {
  return { apiVersion, kind: "SriovNetworkPoolConfig", metadata: { name, namespace }, spec };
}

export function operatorConfig(spec: SriovOperatorConfigSpec, name = "default"): SriovOperatorConfig {
  return { apiVersion, kind: "SriovOperatorConfig", metadata: { name, namespace }, spec };
}

export function network(spec: Partial<SriovNetworkSpec>, inNamespace = namespace): SriovNetwork {
  const metadata = { name: "net", namespace: inNamespace };
  return { apiVersion, kind: "SriovNetwork", metadata, spec: { resourceName: "fast", ...spec } };
}

export function view(overrides: Partial<ClusterView> = {}): ClusterView {
  return { ...emptyView(namespace), ...overrides };
}

/** The review of a new policy. */
export function create(object: SriovNetworkNodePolicy): Review {
  return { kind: "SriovNetworkNodePolicy", operation: "CREATE", object };
}

/** The review of a policy that changes. */
export function update(oldObject: SriovNetworkNodePolicy, object: SriovNetworkNodePolicy): Review {
  return { kind: "SriovNetworkNodePolicy", operation: "UPDATE", object, oldObject };
}
