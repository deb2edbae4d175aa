// SPDX-License-Identifier: Apache-2.0
/** Builders of objects for tests. Each one returns a valid object with the fields that the test sets. */
import { defined } from "@switchyard/api";
import type {
  HoldersStatus,
  InterfaceStatus,
  SriovNetwork,
  SriovNetworkNodePolicy,
  SriovNetworkNodePolicySpec,
  SriovNetworkPoolConfig,
  SriovNetworkPoolConfigSpec,
  SriovNetworkSpec,
  SriovOperatorConfig,
  SriovOperatorConfigSpec,
  SystemStatus,
  VfStatus,
} from "@switchyard/api";
import { emptyView, type ClusterView } from "../cluster-view.ts";
import { createStateReader, type NodeForReview } from "../node-for-review.ts";
import type { Review } from "../review.ts";

export const namespace = "sriov-network-operator";
const apiVersion = "sriovnetwork.openshift.io/v1";

/** Options with a clock that stands still. */
export const stoppedClock = { nowMs: () => 0 };

/** 0000:3b:00.0 "ens1f0", Intel, up, with no VFs of at most 64. */
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

/** VFs as the config daemon configures them. */
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

/** A Linux worker. It is discovered if `pfs` is not empty. */
export function node(
  name: string,
  pfs: readonly InterfaceStatus[] = [],
  {
    labels = {},
    syncStatus = "Succeeded",
    system = {},
    holders,
  }: {
    readonly labels?: NodeForReview["labels"];
    readonly syncStatus?: string;
    readonly system?: SystemStatus;
    readonly holders?: HoldersStatus;
  } = {},
): NodeForReview {
  return {
    name,
    labels: {
      "node-role.kubernetes.io/worker": "",
      "kubernetes.io/os": "linux",
      "kubernetes.io/hostname": name,
      ...labels,
    },
    ...(pfs.length > 0
      ? { state: readState({ status: { interfaces: pfs, system, syncStatus, ...defined({ holders }) } }) }
      : {}),
  };
}

/** 8 VFs on ens1f0 of all nodes for the resource "<name>res", with priority 99. */
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
      nodeSelector: { "node-role.kubernetes.io/worker": "" },
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

/** The review of an update of a policy. */
export function update(oldObject: SriovNetworkNodePolicy, object: SriovNetworkNodePolicy): Review {
  return { kind: "SriovNetworkNodePolicy", operation: "UPDATE", object, oldObject };
}
