// SPDX-License-Identifier: Apache-2.0
/** The nodes of a simulated cluster, the NICs that their daemons report, and policies for them. Pure. */
import {
  apiVersion,
  operatorConfigName,
  type InterfaceStatus,
  type Node,
  type SriovNetworkNodePolicy,
  type SriovNetworkNodeState,
  type SriovOperatorConfig,
  type VfStatus,
} from "@switchyard/api";

/** The namespace of the operator. */
export const operatorNamespace = "switchyard";

/** The namespace in which the plain client writes its own node states. No component acts on them. */
export const plainNamespace = "plain";

export function nodeName(index: number): string {
  return `worker-${index.toString().padStart(5, "0")}`;
}

/** A Node about as large as a real one. The operator's cache must not keep its images and labels. */
export function nodeObject(index: number) {
  const name = nodeName(index);
  return {
    apiVersion: "v1",
    kind: "Node",
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
  } satisfies Node & { readonly status: unknown };
}

/**
 * A SriovOperatorConfig that deploys all components. Drains are off, because the steps measure policies and node
 * states.
 */
export const operatorConfig: SriovOperatorConfig = {
  apiVersion,
  kind: "SriovOperatorConfig",
  metadata: { name: operatorConfigName, namespace: operatorNamespace },
  spec: {
    disableDrain: true,
    enableInjector: true,
    enableOperatorWebhook: true,
    featureGates: { metricsExporter: true },
  },
};

/** The NICs of each node. */
export interface FleetProfile {
  readonly pfs: number;
  /** Number of VFs that each PF has at the start. */
  readonly vfsPerPf: number;
  /** numVfs of the policies, before and after the change. */
  readonly numVfs: number;
  readonly changedNumVfs: number;
}

export const profiles = {
  /** Six PFs per node without VFs. */
  pf6: { pfs: 6, vfsPerPf: 0, numVfs: 8, changedNumVfs: 6 },
  /** Large node states: 256 VFs are 60 KB of JSON per node. */
  vf256: { pfs: 2, vfsPerPf: 128, numVfs: 128, changedNumVfs: 120 },
} as const satisfies Record<string, FleetProfile>;

export type ProfileName = keyof typeof profiles;

export const profileNames = Object.keys(profiles).filter((name): name is ProfileName => name in profiles);

/** The name of the PF with this index, which is the same on every node. */
export function pfName(pf: number): string {
  return `ens${pf + 1}f0`;
}

/** status.interfaces of node number `node`. Nodes differ in their MAC addresses only. */
export function interfacesOf({ pfs, vfsPerPf }: FleetProfile, node: number): readonly InterfaceStatus[] {
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
    ...(vfsPerPf === 0 ? {} : { Vfs: Array.from({ length: vfsPerPf }, (_, vf) => vfOf(node, pf, vf)) }),
  }));
}

function vfOf(node: number, pf: number, vf: number): VfStatus {
  return {
    pciAddress: pciAddress(pf, vf + 16),
    vfID: vf,
    name: `${pfName(pf)}v${vf}`,
    mac: macAddress(node, pf, vf + 1),
    adminMac: macAddress(node, pf, vf + 1),
    driver: "iavf",
    vendor: "8086",
    deviceID: "154c",
    mtu: 1500,
  };
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
export function firstPolicy(numVfs: number): SriovNetworkNodePolicy {
  return policy(0, { pfNames: [pfName(0)], numVfs });
}

/** Policies from 1 on: four VFs each of the other PFs, without overlap. */
export function morePolicies(profile: FleetProfile, count: number): readonly SriovNetworkNodePolicy[] {
  const others = profile.pfs - 1;
  const slots = Math.ceil(count / others);
  return Array.from({ length: count }, (_, index) => {
    const slot = Math.floor(index / others);
    const pf = pfName(1 + (index % others));
    const numVfs = Math.max(profile.vfsPerPf, slots * vfsPerPolicy);
    return policy(index + 1, {
      pfNames: [`${pf}#${slot * vfsPerPolicy}-${slot * vfsPerPolicy + vfsPerPolicy - 1}`],
      numVfs,
    });
  });
}

/** The largest number of policies for a profile: a PF has 128 VFs. */
export function mostPolicies({ pfs }: FleetProfile): number {
  return 1 + ((pfs - 1) * 128) / vfsPerPolicy;
}

/** The status that a node's daemon writes, for server-side apply. */
export function reportedState(profile: FleetProfile, namespace: string, index: number): SriovNetworkNodeState {
  return {
    apiVersion,
    kind: "SriovNetworkNodeState",
    metadata: { name: nodeName(index), namespace },
    status: { interfaces: interfacesOf(profile, index), syncStatus: "Succeeded", lastSyncError: "" },
  };
}

const vfsPerPolicy = 4;

function policy(index: number, { pfNames, numVfs }: { readonly pfNames: readonly string[]; readonly numVfs: number }) {
  return {
    apiVersion,
    kind: "SriovNetworkNodePolicy",
    metadata: { name: `policy-${index}`, namespace: operatorNamespace },
    spec: {
      resourceName: `resource${index}`,
      nodeSelector: { "node-role.kubernetes.io/worker": "" },
      priority: 50,
      numVfs,
      nicSelector: { pfNames },
      deviceType: "netdevice",
    },
  } as const satisfies SriovNetworkNodePolicy;
}

/** A profile of the scenario webhook, in which nodes may also differ in their VFs. */
interface WebhookProfile extends FleetProfile {
  /** Number of VFs of each PF that are in pods, different ones on each node. The host does not see their interfaces. */
  readonly vfsInPods: number;
}

export const webhookProfiles = {
  pf6: { ...profiles.pf6, vfsInPods: 0 },
  vf256: { ...profiles.vf256, vfsInPods: 0 },
  "vf256-in-pods": { ...profiles.vf256, vfsInPods: 10 },
} as const satisfies Record<string, WebhookProfile>;

export type WebhookProfileName = keyof typeof webhookProfiles;

/** status.interfaces of node number `node`. */
export function reportedInterfaces(profile: WebhookProfile, node: number): readonly InterfaceStatus[] {
  return interfacesOf(profile, node).map((pf, place) => {
    if (pf.Vfs === undefined) return pf;
    const inPods = someOf(pf.Vfs.length, { count: profile.vfsInPods, seed: node * profile.pfs + place });
    return {
      ...pf,
      Vfs: pf.Vfs.map(({ name, ...vf }) => (inPods.has(vf.vfID) ? vf : { ...vf, ...(name && { name }) })),
    };
  });
}

/** `count` of the numbers below `all`, from a linear congruential generator, so that each run has the same ones. */
function someOf(all: number, { count, seed }: { readonly count: number; readonly seed: number }): ReadonlySet<number> {
  const chosen = new Set<number>();
  for (let state = seed; chosen.size < count;) {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    chosen.add((state >> 16) % all);
  }
  return chosen;
}
