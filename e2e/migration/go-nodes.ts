// SPDX-License-Identifier: Apache-2.0
/**
 * The nodes of the walk between upstream's operator and Switchyard, one for each state in which a hand-over could do harm,
 * and the policies of each.
 */
import type { SriovNetworkNodePolicySpec, SriovNetworkPoolConfigSpec } from "@switchyard/api";
import {
  i40e,
  igb,
  mlx5,
  mlx5Ib,
  pci,
  upstreamHelpers,
  upstreamRules,
  type FakeKernel,
  type FakeNic,
} from "@switchyard/host/testing";
import type { GoDaemonOptions } from "./go-daemon.ts";

/** A policy without the fields that the table fills in. */
type Policy = Omit<SriovNetworkNodePolicySpec, "nodeSelector">;

export interface GoNode extends Pick<GoDaemonOptions, "requests" | "endsAt"> {
  readonly name: string;
  readonly nics: readonly FakeNic[];
  /** Whether Open vSwitch runs on it, in which upstream has switched hardware offload on. */
  readonly hasOvs?: boolean;
  /** Of the pool that has only this node. */
  readonly pool?: Pick<SriovNetworkPoolConfigSpec, "rdmaMode">;
  readonly policies: Readonly<Record<string, Policy>>;
  /** Number of VFs that a user changes the policies to before the take-over. The node has to be drained for it. */
  readonly grownTo?: number;
  /** Actions of users or pods before the policies exist, and when the node is configured. */
  readonly before?: (kernel: FakeKernel) => Promise<void>;
  readonly after?: (kernel: FakeKernel) => void | Promise<void>;
  /** Whether an administrator has cordoned the node. */
  readonly isCordoned?: boolean;
  /** The operator's answer in the drain handshake when Switchyard comes. */
  readonly answer: "Idle" | "Draining" | "DrainComplete";
}

const one = (resourceName: string): Policy => ({
  nicSelector: { rootDevices: ["0000:01:00.0"] },
  numVfs: 2,
  resourceName,
});

/** The pod with a VF of this resource must stay because of its PodDisruptionBudget, so its node stays in its drain. */
export const heldResource = "held";

export const goNodes: readonly GoNode[] = [
  {
    name: "partitioned",
    nics: [igb("0000:01:00.0")],
    policies: {
      "fast-1g": { nicSelector: { pfNames: ["enp1s0f0#0-1"] }, numVfs: 4, resourceName: "fast" },
      "dpdk-1g": {
        nicSelector: { pfNames: ["enp1s0f0#2-3"] },
        numVfs: 4,
        resourceName: "dpdk",
        deviceType: "vfio-pci",
      },
    },
    answer: "Idle",
  },
  {
    name: "rdma",
    nics: [mlx5("0000:3b:00.0")],
    policies: {
      "rdma-100g": {
        nicSelector: { vendor: "15b3", pfNames: ["enp59s0f0np0"] },
        numVfs: 4,
        resourceName: "rdma",
        mtu: 9000,
        isRdma: true,
        linkType: "eth",
      },
    },
    after: (kernel) => {
      kernel.moveToPod(pci("0000:3b:00.2"));
    },
    answer: "Idle",
  },
  {
    name: "mixed",
    nics: [i40e("0000:5e:00.0")],
    policies: {
      "jumbo-25g": {
        nicSelector: { rootDevices: ["0000:5e:00.0"] },
        numVfs: 6,
        resourceName: "jumbo",
        mtu: 9000,
      },
      "external-25g": {
        nicSelector: { rootDevices: ["0000:5e:00.1"] },
        numVfs: 4,
        resourceName: "external",
        externallyManaged: true,
      },
    },
    before: (kernel) => kernel.setNumVfsByHand(pci("0000:5e:00.1"), 4),
    answer: "Idle",
  },
  {
    // VFs with the GUIDs that upstream has assigned.
    name: "infiniband",
    nics: [mlx5Ib("0000:86:00.0")],
    policies: {
      "ib-100g": {
        nicSelector: { rootDevices: ["0000:86:00.0"] },
        numVfs: 2,
        resourceName: "ib",
        isRdma: true,
        linkType: "ib",
      },
    },
    answer: "Idle",
  },
  {
    name: "exclusive",
    nics: [mlx5("0000:3b:00.0")],
    pool: { rdmaMode: "exclusive" },
    policies: {
      exclusive: {
        nicSelector: { rootDevices: ["0000:3b:00.0"] },
        numVfs: 2,
        resourceName: "exclusive",
        isRdma: true,
        linkType: "eth",
      },
    },
    before(kernel) {
      kernel.setRdmaModeByHand("exclusive");
      const header = "# This file is managed by sriov-network-operator do not edit.";
      kernel.writeFile(
        "/etc/modprobe.d/sriov_network_operator_modules_config.conf",
        `${header}\noptions ib_core netns_mode=0\n`,
      );
      return Promise.resolve();
    },
    answer: "Idle",
  },
  {
    // Representors of its VFs are ports of a bridge that upstream manages.
    name: "bridged",
    nics: [mlx5("0000:3b:00.0")],
    hasOvs: true,
    policies: {
      "reps-100g": {
        nicSelector: { rootDevices: ["0000:3b:00.0"] },
        numVfs: 2,
        resourceName: "reps",
        eSwitchMode: "switchdev",
        bridge: { ovs: {} },
      },
    },
    async before(kernel) {
      for (const [path, text] of upstreamHelpers) kernel.writeFile(path, text);
      for (const [path, text] of upstreamRules(pci("0000:3b:00.0"), "enp59s0f0np0", "switchdev"))
        kernel.writeFile(path, text);
      await kernel.host().ovs.setHardwareOffload("by upstream");
    },
    async after(kernel) {
      const [bridge] = Object.keys(kernel.ovs.listBridges());
      const links = await kernel.host().links.listLinks();
      const representor = links.find(({ physPortName }) => physPortName === "pf0vf0");
      if (bridge === undefined || representor === undefined) throw new Error("upstream's daemon has made no bridge");
      kernel.ovs.addPort(bridge, representor.name);
    },
    answer: "Idle",
  },
  {
    name: "closed",
    nics: [igb("0000:01:00.0")],
    policies: { closed: one("closed") },
    isCordoned: true,
    answer: "Idle",
  },
  {
    // Its pod has a budget that allows no eviction.
    name: "draining",
    nics: [igb("0000:01:00.0")],
    policies: { held: one(heldResource) },
    grownTo: 3,
    answer: "Draining",
  },
  {
    // The daemon asked for a reboot, and ended before it rebooted the node.
    name: "rebooting",
    nics: [igb("0000:01:00.0")],
    policies: { rebooting: one("rebooting") },
    grownTo: 3,
    requests: "Reboot_Required",
    endsAt: "drained",
    answer: "DrainComplete",
  },
  {
    // The daemon configured the node, and ended before it said so.
    name: "finished",
    nics: [igb("0000:01:00.0")],
    policies: { finished: one("finished") },
    grownTo: 3,
    endsAt: "configured",
    answer: "DrainComplete",
  },
];
