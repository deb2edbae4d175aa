// SPDX-License-Identifier: Apache-2.0
/**
 * Pods of `switchyard verify` and their output, as a kubelet, Multus and the program in the pods report them. The lines of the
 * program were recorded in network namespaces of Linux 6.12 and on the guest of e2e/cluster.
 */
import { parseObservations } from "../parse-observations.ts";
import type { PodRole } from "../plan-pods.ts";
import { readPodView, type PodView } from "../pod-view.ts";

/** What differs from a pod that works. */
export interface PodChanges {
  readonly name?: string;
  readonly node?: string;
  readonly role?: PodRole;
  readonly network?: string;
  /** Members of the Pod's status. */
  readonly status?: object;
  readonly isScheduled?: boolean;
  readonly isAttached?: boolean;
  readonly events?: readonly unknown[];
  /** Members of the first line of the program; undefined for no output. */
  readonly seen?: object | undefined;
  /** Members of the interface in it; null for no interface. */
  readonly found?: object | null;
  /** Pods whose beacons it received: name -> network. */
  readonly heard?: Readonly<Record<string, string>>;
  /** Members of the line about the other pod. */
  readonly target?: object;
}

const running = {
  phase: "Running",
  startTime: "2026-11-28T10:00:00Z",
  containerStatuses: [{ name: "probe", state: { running: { startedAt: "2026-11-28T10:00:05Z" } } }],
};

const seen = { kind: "interface", names: ["eth0", "lo", "net1"], vfioGroups: [], rdmaDevices: [], hasUverbs: false };

/** The pod "a" that answers, at 192.168.78.2. */
export function answererWith(changes: PodChanges = {}): PodView {
  const found = { mac: "22:c5:72:ed:b3:27", addresses: ["192.168.78.2/24"] };
  return podWith({ name: "a", role: "answers", heard: { b: "default/blue" }, ...changes }, found);
}

/** The pod "b" that sends, at 192.168.78.4. */
export function senderWith(changes: PodChanges = {}): PodView {
  const found = { mac: "f2:d2:56:0e:f8:d7", addresses: ["192.168.78.4/24"] };
  const target = {
    kind: "target",
    pod: "a",
    routeInterface: "net1",
    neighbour: { mac: "22:c5:72:ed:b3:27", isComplete: true },
    small: { bytes: 84, sent: 5, received: 5, fragmented: 0 },
    full: { bytes: 1500, sent: 3, received: 3, fragmented: 0 },
    ...changes.target,
  };
  return podWith({ name: "b", role: "sends", heard: { a: "default/blue" }, ...changes, target }, found);
}

/** The pod "c" of a network in another VLAN, which nobody hears. */
export function otherWith(changes: PodChanges = {}): PodView {
  const found = { mac: "92:04:3a:11:28:01", addresses: ["192.168.78.3/24"] };
  return podWith({ name: "c", role: "other-network", network: "default/green", ...changes }, found);
}

function podWith(changes: PodChanges, own: { readonly addresses: readonly string[] } & object): PodView {
  const { name = "a", node = "w1", role = "answers", network = "default/blue", heard = {}, target } = changes;
  const { isScheduled = true, isAttached = true, events = [], status = {} } = changes;
  const found = { mtu: 1500, isUp: true, hasCarrier: true, ...own, ...changes.found };
  const first = { ...seen, ...(changes.found !== null && { found }), ...changes.seen };
  const lines = [
    ...("seen" in changes && changes.seen === undefined ? [] : [first]),
    ...Object.entries(heard).map(([pod, of]) => ({ kind: "heard", pod, network: of })),
    ...(target === undefined ? [] : [target]),
  ];
  const entry = {
    name: network,
    interface: "net1",
    ips: own.addresses.map((address) => address.replace(/\/.*/, "")),
    "device-info": { type: "pci", pci: { "pci-address": name === "a" ? "0000:01:10.0" : "0000:01:10.2" } },
  };
  const networkStatus = JSON.stringify([
    { name: "pods", interface: "eth0", default: true },
    ...(isAttached ? [entry] : []),
  ]);
  const pod = {
    metadata: { name, annotations: { "k8s.v1.cni.cncf.io/network-status": networkStatus } },
    spec: isScheduled ? { nodeName: node } : {},
    status: { ...running, ...status },
  };
  const observations = parseObservations(lines.map((line) => JSON.stringify(line)).join("\n"));
  return readPodView({ planned: { node, role }, name, network, pod, events, observations });
}
