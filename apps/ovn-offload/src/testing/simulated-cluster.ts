// SPDX-License-Identifier: Apache-2.0
/**
 * SimulatedCluster plays, for tests of decide(), the programs that react to its writes: the operator and the config daemons, and
 * on OpenShift the Machine Config Operator, which reboots one node after another.
 */
import {
  annotations,
  labels,
  taints,
  type CardMode,
  type HostNetworkStatus,
  type MachineConfigPool,
  type OvnHardwareOffload,
  type SriovNetworkNodePolicy,
} from "@switchyard/api";
import {
  defaultOffloadNetwork,
  presentOffloadNetwork,
  type DnsPlacementSource,
  type PresentOffloadNetwork,
} from "@switchyard/render";
import { decide, type Decision } from "../decide/decide.ts";
import { hostLabelsOf } from "../decide/host-state.ts";
import type {
  ConfigMapRole,
  NodeReport,
  ObservedCluster,
  ObservedConfigMap,
  ObservedNode,
  OffloadWrite,
  UnknownEntries,
} from "../decide/observed.ts";

interface SimulatedNode {
  labels: Record<string, string>;
  ownLabels: string[];
  taints: { key: string; effect: "NoSchedule" }[];
  /** Models by PCI device ID; one SmartNIC by default. */
  cards: readonly string[];
  mode: CardMode;
  hasReported: boolean;
  /** Whether the host booted without Open vSwitch. */
  isOffloaded: boolean;
  /** The pool whose MachineConfig it booted with. */
  configuredBy: string;
  hasVfs: boolean;
  /** Number of VFs that each PF of the card can have. Its firmware cannot be changed. */
  totalvfs: number;
  /** What the config daemon reports as its error. */
  syncError: string;
  /** How the host reaches its network while it has Open vSwitch; undefined: an older config daemon. */
  network: HostNetworkStatus | undefined;
}

interface SimulatedMap {
  data: Record<string, string>;
  annotations: Record<string, string>;
  isOwn: boolean;
}

export class SimulatedCluster {
  readonly isOpenshift: boolean;
  readonly nodes = new Map<string, SimulatedNode>();
  readonly pools = new Map<string, { isPaused: boolean; isDegraded: boolean }>();
  /** By pool: whether its last complete rollout had the MachineConfig of ovn-offload. */
  readonly rolledOut = new Map<string, boolean>();
  readonly maps = new Map<ConfigMapRole, SimulatedMap>();
  readonly configs = new Map<string, string>();
  readonly policies = new Map<string, SriovNetworkNodePolicy>();
  readonly foreignMachineConfigs = new Set<string>();
  readonly networks = new Map<string, PresentOffloadNetwork>();
  /** Policies that somebody deletes, as the service remembers them. */
  readonly lostPolicies: SriovNetworkNodePolicy[] = [];
  /** Whether the cluster has the kind NetworkAttachmentDefinition. */
  hasMultus = true;
  entries: OvnHardwareOffload[] | UnknownEntries = [];
  version: string | undefined = "4.14.1";
  dns: DnsPlacementSource = { metadata: { annotations: {} }, spec: {} };
  /** MachineConfigs written and deleted, in order. */
  readonly machineConfigWrites: string[] = [];

  constructor({ isOpenshift }: { readonly isOpenshift: boolean }) {
    this.isOpenshift = isOpenshift;
  }

  addNode(name: string, role: string, more: Partial<SimulatedNode> = {}): void {
    this.nodes.set(name, {
      labels: { "kubernetes.io/os": "linux", [`node-role.kubernetes.io/${role}`]: "" },
      ownLabels: [],
      taints: [],
      cards: ["a2d6"],
      mode: "embedded-cpu",
      hasReported: true,
      isOffloaded: false,
      configuredBy: role,
      hasVfs: false,
      totalvfs: 16,
      syncError: "",
      network: { openVSwitchInterfaces: ["br-ex"], madeByConfigureOvs: true },
      ...more,
    });
  }

  /** Moves a node to another role. */
  relabel(name: string, role: string): void {
    const node = this.nodes.get(name);
    if (node === undefined) return;
    const others = Object.entries(node.labels).filter(([key]) => !key.startsWith("node-role.kubernetes.io/"));
    node.labels = { ...Object.fromEntries(others), [`node-role.kubernetes.io/${role}`]: "" };
  }

  addPool(name: string): void {
    this.pools.set(name, { isPaused: false, isDegraded: false });
  }

  /** What everything in the cluster looks like, for comparisons. */
  snapshot(): unknown {
    const { nodes, maps, configs, policies, networks, dns } = this;
    const all = [nodes, maps, configs, policies, networks].map((some) => Object.fromEntries<unknown>(some));
    return JSON.parse(
      JSON.stringify([...all, dns], (key, value: unknown) => (key === "hasReported" ? undefined : value)),
    );
  }

  decide(): Decision {
    return decide(this.observed());
  }

  /** One pass of ovn-offload, then one step of the others. Returns the writes. */
  step(): readonly OffloadWrite[] {
    const { writes } = this.decide();
    for (const write of writes) this.apply(write);
    this.react();
    return writes;
  }

  /** Steps until nothing changes. Throws if that takes too long. */
  settle(): void {
    for (let i = 0; i < 200; i++) {
      const before = this.#nodesAndPools();
      const changes = this.step().filter(({ kind }) => kind !== "apply-machine-config");
      if (changes.length === 0 && before === this.#nodesAndPools()) return;
    }
    throw new Error(`the cluster does not settle: ${JSON.stringify(this.decide().writes)}`);
  }

  #nodesAndPools(): string {
    return JSON.stringify([[...this.nodes], [...this.rolledOut]]);
  }

  apply(write: OffloadWrite): void {
    switch (write.kind) {
      case "label-node": {
        const node = this.nodes.get(write.node);
        if (node === undefined) return;
        for (const key of node.ownLabels)
          if (!Object.hasOwn(write.labels, key)) Reflect.deleteProperty(node.labels, key);
        Object.assign(node.labels, write.labels);
        node.ownLabels = Object.keys(write.labels).sort();
        return;
      }
      case "taint-node": {
        const node = this.nodes.get(write.node);
        if (node !== undefined) node.taints = write.taints.map(({ key }) => ({ key, effect: "NoSchedule" }));
        return;
      }
      case "apply-policy": {
        const { apiVersion: _, kind: _kind, metadata, spec } = write.policy;
        const head = { apiVersion: "sriovnetwork.openshift.io/v1", kind: "SriovNetworkNodePolicy" } as const;
        this.policies.set(metadata.name, { ...head, metadata: { ...metadata }, spec });
        return;
      }
      case "delete-policy":
        this.policies.delete(write.name);
        return;
      case "apply-machine-config": {
        const { name, labels: own = {} } = write.config.metadata;
        if (!this.configs.has(name)) this.machineConfigWrites.push(`+${name}`);
        this.configs.set(name, own[labels.ovnOffloadPool] ?? "");
        return;
      }
      case "delete-machine-config":
        this.machineConfigWrites.push(`-${write.name}`);
        this.configs.delete(write.name);
        return;
      case "patch-config-map": {
        const map = this.maps.get(write.role) ?? { data: {}, annotations: {}, isOwn: true };
        this.maps.set(write.role, map);
        merge(map.data, write.data);
        merge(map.annotations, write.annotations);
        return;
      }
      case "delete-config-map":
        this.maps.delete(write.role);
        return;
      case "write-network": {
        const { metadata, spec } = write.network;
        this.networks.set(metadata.name, presentOffloadNetwork({ metadata: { ...metadata, ...version }, spec }));
        return;
      }
      case "delete-network":
        this.networks.delete(write.name);
        return;
      case "patch-dns": {
        const annotations = { ...this.dns.metadata.annotations };
        merge(annotations, write.patch.metadata.annotations);
        const { nodePlacement, ...spec } = { ...this.dns.spec };
        const wanted = write.patch.spec.nodePlacement;
        const nodeSelector = { ...nodePlacement?.nodeSelector };
        merge(nodeSelector, wanted?.nodeSelector ?? {});
        const { nodeSelector: _, ...others } = { ...nodePlacement };
        const placement = wanted?.nodeSelector === null ? others : { ...others, nodeSelector };
        this.dns = { metadata: { annotations }, spec: wanted === null ? spec : { ...spec, nodePlacement: placement } };
      }
    }
  }

  /** The operator and the daemons follow the labels; the Machine Config Operator reboots one node of each pool. */
  react(): void {
    const rebooted = new Set<string>();
    for (const node of this.nodes.values()) {
      const pool = node.labels[labels.ovnOffloadPool];
      const policies = [...this.policies.values()];
      node.hasVfs =
        pool !== undefined &&
        policies.some(({ metadata }) => metadata.labels?.[labels.ovnOffloadPool] === pool) &&
        node.mode !== "nic";
      if (!this.isOpenshift) {
        node.isOffloaded = node.labels[labels.ovnOffloadFiles] === "daemon";
        continue;
      }
      const role = this.poolOf(node);
      const wanted = this.isConfigured(role);
      if (node.isOffloaded === wanted) node.configuredBy = role;
      if (node.isOffloaded === wanted || this.pools.get(role)?.isPaused === true || rebooted.has(role)) continue;
      node.isOffloaded = wanted;
      node.configuredBy = role;
      rebooted.add(role);
    }
    for (const name of this.pools.keys()) {
      const wanted = this.isConfigured(name);
      const nodes = [...this.nodes.values()].filter((node) => this.poolOf(node) === name);
      if (nodes.every(({ isOffloaded }) => isOffloaded === wanted)) this.rolledOut.set(name, wanted);
    }
  }

  observed(): ObservedCluster {
    const map = (namespace: string, role: ConfigMapRole) => ({
      namespace,
      name: role,
      isPossible: true,
      present: this.observedMap(role),
    });
    return {
      entries: this.entries,
      namespace: "sriov",
      resourcePrefix: "openshift.io",
      machineConfigPools: this.isOpenshift ? this.observedPools() : undefined,
      machineConfigs: [...this.configs].map(([name, pool]) => ({ name, uid: name, pool })),
      foreignMachineConfigs: this.foreignMachineConfigs,
      policies: [...this.policies.values()],
      lostPolicies: this.lostPolicies,
      nodes: [...this.nodes].map(([name, node]) => this.observedNode(name, node)),
      reportOf: (name) => this.reportOf(name),
      waitingPodsOf: () => undefined,
      configMaps: {
        managementPorts: map("ovn", "managementPorts"),
        envOverrides: map("ovn", "envOverrides"),
        hardwareOffload: map("network", "hardwareOffload"),
      },
      networks: { at: defaultOffloadNetwork, present: this.hasMultus ? [...this.networks.values()] : undefined },
      dns: this.isOpenshift ? { ...this.dns, metadata: { ...this.dns.metadata, ...version } } : undefined,
      openshiftVersion: this.isOpenshift ? this.version : undefined,
    };
  }

  /** Reports what must hold for every host at any time. */
  violations(): readonly string[] {
    const data = this.maps.get("managementPorts")?.data ?? {};
    return [...this.nodes].flatMap(([name, node]) => {
      const isHost = hostLabelsOf(this.observedNode(name, node)).length > 0;
      const isMarked = node.labels[labels.ovnOffloadPool] !== undefined;
      // Nothing would remove the taint of a node that is not marked.
      const isTainted = node.taints.some(({ key }) => key === taints.ovnOffload);
      if (isTainted && !isMarked) return [`${name}: taint without pool`];
      if (!isHost) return [];
      return [
        ...(data[name] === undefined ? [`${name}: label without management port`] : []),
        ...(isMarked ? [] : [`${name}: label without pool`]),
      ];
    });
  }

  private isConfigured(role: string): boolean {
    return this.configs.has(`99-${role}-ovn-hw-offload`);
  }

  private poolOf(node: SimulatedNode): string {
    return (
      [...this.pools.keys()].find((name) => Object.hasOwn(node.labels, `node-role.kubernetes.io/${name}`)) ?? "worker"
    );
  }

  private observedPools(): readonly MachineConfigPool[] {
    return [...this.pools, ["worker", { isPaused: false, isDegraded: false }] as const].map(([name, pool]) => {
      const wanted = rendered(name, this.isConfigured(name));
      const actual = rendered(name, this.rolledOut.get(name) === true);
      const role = { key: "machineconfiguration.openshift.io/role", operator: "In" as const };
      const head = { apiVersion: "machineconfiguration.openshift.io/v1", kind: "MachineConfigPool" } as const;
      return {
        ...head,
        metadata: { name },
        spec: {
          paused: pool.isPaused,
          machineConfigSelector: { matchExpressions: [{ ...role, values: [...new Set(["worker", name])] }] },
          nodeSelector: { matchLabels: { [`node-role.kubernetes.io/${name}`]: "" } },
          configuration: wanted,
        },
        status: {
          configuration: actual,
          conditions: [
            {
              type: "Degraded",
              status: pool.isDegraded ? "True" : "False",
              reason: "",
              message: "",
              lastTransitionTime: "",
            } as const,
          ],
        },
      };
    });
  }

  private observedMap(role: ConfigMapRole): ObservedConfigMap["present"] {
    const map = this.maps.get(role);
    return map && { metadata: version, ...structuredClone(map) };
  }

  private observedNode(name: string, node: SimulatedNode): ObservedNode {
    const current = rendered(node.configuredBy, node.isOffloaded).name;
    return {
      apiVersion: "v1",
      kind: "Node",
      metadata: {
        name,
        uid: name,
        labels: { ...node.labels },
        annotations: this.isOpenshift ? { [annotations.currentMachineConfig]: current } : {},
      },
      spec: { taints: [...node.taints] },
      ownLabels: [...node.ownLabels],
    };
  }

  private reportOf(name: string): NodeReport | undefined {
    const node = this.nodes.get(name);
    if (node?.hasReported !== true) return undefined;
    const cardMode = { current: node.mode };
    return {
      isCurrent: true,
      interfaces: [
        { pciAddress: "0000:01:00.0", vendor: "8086", deviceID: "1572" },
        ...node.cards.map((deviceID, i) => ({
          pciAddress: `0000:${i + 1}b:00.0`,
          vendor: "15b3",
          deviceID,
          cardMode,
          totalvfs: node.totalvfs,
          firmware: { unavailable: "the card is in DPU mode" },
        })),
      ],
      hostNetwork: node.isOffloaded ? {} : node.network,
      managementVf: node.hasVfs ? { name: node.isOffloaded ? "ovnmgmt0" : "eth7" } : undefined,
      managementVfs: node.hasVfs ? Number(node.labels[labels.ovnManagementVfs] ?? 1) : 0,
      vfsExist: node.hasVfs,
      syncError: node.syncError,
      openVSwitchDisabled: !this.isOpenshift && node.isOffloaded,
    };
  }
}

/** Nobody else writes at the same time. */
const version = { resourceVersion: "1" };

function rendered(pool: string, isOffloaded: boolean) {
  const own = isOffloaded ? [{ name: `99-${pool}-ovn-hw-offload` }] : [];
  return { name: `rendered-${pool}-${isOffloaded ? "b" : "a"}`, source: [{ name: "00-worker" }, ...own] };
}

function merge(target: Record<string, string>, patch: Readonly<Record<string, string | null>>): void {
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) Reflect.deleteProperty(target, key);
    else target[key] = value;
  }
}
