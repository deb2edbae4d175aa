// SPDX-License-Identifier: Apache-2.0
/** The nodes of a simulated cluster, the NICs that their daemons report, and policies for them. Pure. */
import {
  operatorConfigName,
  type InterfaceStatus,
  type SriovNetworkNodePolicySpec,
  type SriovNetworkNodeStateStatus,
  type SriovOperatorConfigSpec,
  type VfHolder,
  type VfStatus,
} from "@switchyard/api";

/** The namespace of the operator. */
export const operatorNamespace = "switchyard";

/** The namespace in which the plain client writes its own node states. No component acts on them. */
export const plainNamespace = "plain";

/** metadata of a SriovOperatorConfig or an AfxdpOperatorConfig. */
export const configMetadata = { name: operatorConfigName, namespace: operatorNamespace };

export function nodeName(index: number): string {
  return `worker-${index.toString().padStart(5, "0")}`;
}

/** A Node about as large as a real one. The operator's cache must not keep its images and labels. */
export function nodeObject(index: number) {
  const name = nodeName(index);
  return {
    metadata: {
      name,
      labels: {
        "kubernetes.io/arch": "amd64",
        "kubernetes.io/hostname": name,
        "kubernetes.io/os": "linux",
        "node-role.kubernetes.io/worker": "",
        "topology.kubernetes.io/region": "north",
        "topology.kubernetes.io/zone": `north-${index % 3}`,
      },
      annotations: { "node.alpha.kubernetes.io/ttl": "0" },
    },
    status: {
      capacity: { cpu: "128", memory: "527945080Ki", pods: "250" },
      nodeInfo: {
        architecture: "amd64",
        bootID: `boot-${index}`,
        containerRuntimeVersion: "containerd://2.1.4",
        kernelVersion: "6.12.0",
        kubeProxyVersion: "",
        kubeletVersion: "v1.36.3",
        machineID: `machine-${index}`,
        operatingSystem: "linux",
        osImage: "Linux",
        systemUUID: `system-${index}`,
      },
      images: Array.from({ length: 30 }, (_, image) => ({
        names: [
          `registry.example/team/image-${image}@sha256:${"0".repeat(64)}`,
          `registry.example/team/image-${image}:1`,
        ],
        sizeBytes: 100_000_000 + image,
      })),
    },
  };
}

/**
 * A SriovOperatorConfig that deploys all components. Drains are off, because the steps measure policies and node
 * states.
 */
export const operatorConfigSpec: SriovOperatorConfigSpec = {
  disableDrain: true,
  enableInjector: true,
  enableOperatorWebhook: true,
  featureGates: { metricsExporter: true },
};

/** The NICs of each node. */
export interface FleetProfile {
  readonly pfs: number;
  /** Number of VFs that each PF has at the start. */
  readonly vfsPerPf: number;
  /**
   * Number of these VFs that are in pods, different ones on each node. The host does not see their interfaces, and each has a
   * holder.
   */
  readonly vfsInPods: number;
  /** numVfs of the policies, before and after the change. */
  readonly numVfs: number;
  readonly changedNumVfs: number;
}

const vf256 = { pfs: 2, vfsPerPf: 128, vfsInPods: 0, numVfs: 128, changedNumVfs: 120 };

export const profiles = {
  /** Six PFs per node without VFs. */
  pf6: { pfs: 6, vfsPerPf: 0, vfsInPods: 0, numVfs: 8, changedNumVfs: 6 },
  /** Large node states: 256 VFs are 60 KB of JSON per node. */
  vf256,
  "vf256-in-pods": { ...vf256, vfsInPods: 10 },
  /** The largest node states: each VF has a holder. */
  "vf256-held": { ...vf256, vfsInPods: 128 },
} as const satisfies Record<string, FleetProfile>;

export type ProfileName = keyof typeof profiles;

/** The name of the PF with this index, which is the same on every node. */
export function pfName(pf: number): string {
  return `ens${pf + 1}f0`;
}

/** The status that the daemon of node number `node` writes. */
export function reportedStatus(profile: FleetProfile, node: number): SriovNetworkNodeStateStatus {
  return { interfaces: interfacesOf(profile, node), syncStatus: "Succeeded", lastSyncError: "" };
}

/** status.interfaces of node number `node`. Nodes differ in their MAC addresses, and in which VFs are in pods. */
export function interfacesOf(profile: FleetProfile, node: number): readonly InterfaceStatus[] {
  const { pfs, vfsPerPf } = profile;
  return Array.from({ length: pfs }, (_, pf) => ({
    pciAddress: pciAddress(pf, 0),
    name: pfName(pf),
    mac: macAddress(node, pf, 0),
    driver: "i40e",
    vendor: "8086",
    deviceID: "158b",
    mtu: 1500,
    maxMtu: 9702,
    numVfs: vfsPerPf,
    totalvfs: 128,
    linkSpeed: "25000 Mb/s",
    linkType: "ETH",
    linkAdminState: "up",
    eSwitchMode: "legacy",
    ...(vfsPerPf === 0 ? {} : { Vfs: vfsOf(profile, node, pf) }),
  }));
}

function vfsOf({ pfs, vfsPerPf, vfsInPods }: FleetProfile, node: number, pf: number): readonly VfStatus[] {
  const inPods = someOf(vfsPerPf, { count: vfsInPods, seed: node * pfs + pf });
  return Array.from({ length: vfsPerPf }, (_, vf) => ({
    pciAddress: pciAddress(pf, vf + 16),
    vfID: vf,
    ...(inPods.has(vf) ? { holder: holderOf(node, pf, vf) } : { name: `${pfName(pf)}v${vf}` }),
    mac: macAddress(node, pf, vf + 1),
    adminMac: macAddress(node, pf, vf + 1),
    driver: "iavf",
    vendor: "8086",
    deviceID: "154c",
    mtu: 1500,
  }));
}

/** A pod of a Deployment, which has the VF from the device plugin. */
function holderOf(node: number, pf: number, vf: number): VfHolder {
  return {
    namespace: "default",
    name: `workload-${pf}-5d8f9c7b6d-${node.toString(36).padStart(3, "0")}${vf.toString(36).padStart(2, "0")}`,
    uid: `8a1f2e60-0000-4000-8000-${(node * 1_000_000 + pf * 1_000 + vf).toString(16).padStart(12, "0")}`,
    via: "device-plugin",
    resource: `openshift.io/resource${pf}`,
    since: "2026-11-28T08:00:00Z",
  };
}

/** `count` of the numbers below `all`, from a linear congruential generator, so that each run has the same ones. */
function someOf(all: number, { count, seed }: { readonly count: number; readonly seed: number }): ReadonlySet<number> {
  const rest = Array.from({ length: all }, (_, index) => index);
  const chosen = new Set<number>();
  for (let state = seed; chosen.size < count;) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    const [next = 0] = rest.splice((state >> 16) % rest.length, 1);
    chosen.add(next);
  }
  return chosen;
}

/** The address of the function with this number on the PF's bus. */
function pciAddress(pf: number, routingId: number): string {
  return `0000:${hex(0x3b + pf)}:${hex(routingId >> 3)}.${routingId & 7}`;
}

/** The MAC address of a device of a PF; device 0 is the PF itself. */
export function macAddress(node: number, pf: number, device: number): string {
  return `02:${hex(node >> 8)}:${hex(node & 255)}:${hex(pf)}:${hex(device >> 8)}:${hex(device & 255)}`;
}

function hex(byte: number): string {
  return byte.toString(16).padStart(2, "0");
}

/** Policy 0: all VFs of the first PF on every node. */
export function firstPolicy(numVfs: number) {
  return policy(0, { nicSelector: { pfNames: [pfName(0)] }, numVfs });
}

/** Policies from 1 on: four VFs each of the other PFs, without overlap. */
export function morePolicies(profile: FleetProfile, count: number) {
  const others = profile.pfs - 1;
  const slots = Math.ceil(count / others);
  return Array.from({ length: count }, (_, index) => {
    const first = Math.floor(index / others) * vfsPerPolicy;
    const pfNames = [`${pfName(1 + (index % others))}#${first}-${first + vfsPerPolicy - 1}`];
    const numVfs = Math.max(profile.vfsPerPf, slots * vfsPerPolicy);
    return policy(index + 1, { nicSelector: { pfNames }, numVfs });
  });
}

/** The largest number of policies for a profile: a PF has 128 VFs. */
export function mostPolicies({ pfs }: FleetProfile): number {
  return 1 + ((pfs - 1) * 128) / vfsPerPolicy;
}

const vfsPerPolicy = 4;

function policy(index: number, more: Pick<SriovNetworkNodePolicySpec, "nicSelector" | "numVfs">) {
  const spec: SriovNetworkNodePolicySpec = {
    resourceName: `resource${index}`,
    nodeSelector: { "node-role.kubernetes.io/worker": "" },
    priority: 50,
    deviceType: "netdevice",
    ...more,
  };
  return { metadata: { name: `policy-${index}`, namespace: operatorNamespace }, spec };
}
