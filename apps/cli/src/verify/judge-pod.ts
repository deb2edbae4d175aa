// SPDX-License-Identifier: Apache-2.0
/** judgePod says which layers of one pod work: from the scheduler up to its RDMA device. It decides by what was observed alone. */
import type { Layer, LayerResult } from "./layers.ts";
import type { InterfaceObservation } from "./observation.ts";
import { interfaceOf, type PodView } from "./pod-view.ts";

/** What the pods of a node should have. */
export interface NodeExpectation {
  /** Full name of the resource. */
  readonly resource: string;
  /** VLAN of the network; 0 for none. */
  readonly vlan: number;
  /** MTU that a policy sets on the VFs; undefined if none does. */
  readonly mtu: number | undefined;
  /** Whether a policy gives pods the RDMA device of their VF. */
  readonly isRdma: boolean;
  /** RDMA mode that a pool requires; undefined if none does. */
  readonly rdmaMode: "shared" | "exclusive" | undefined;
}

/** Layers that need a network interface in the pod. */
const interfaceLayers: readonly Layer[] = ["interface", "link", "address"];

/** Layers above the first that fails are not checked. RDMA is checked in each pod that has started. */
export function judgePod(view: PodView, expected: NodeExpectation): readonly LayerResult[] {
  const { name, node } = view;
  const pod = `pod ${name} on node ${node}`;
  const below = judgeStart(view, { pod, resource: expected.resource });
  if (below.some(({ status }) => status === "failed")) return below;
  const seen = interfaceOf(view);
  if (seen === undefined) {
    const next = `kubectl logs ${name}; the image must have Node.js 22 or later`;
    return [
      ...below.slice(0, -1),
      failed(
        "started",
        `The ${pod} has printed nothing${view.refusal === undefined ? "" : `: ${view.refusal}`}.`,
        next,
      ),
    ];
  }
  return [...below, ...judgeInterface(seen, { pod, view }), judgeRdma(seen, { pod, view, expected })];
}

/** The layers up to the start of the container. */
function judgeStart(
  view: PodView,
  { pod, resource }: { readonly pod: string; readonly resource: string },
): readonly LayerResult[] {
  const { isScheduled, unscheduled = "no reason is known", hasStarted, refusal, sandboxError, waiting, network } = view;
  if (!isScheduled) {
    const next = `kubectl describe node ${view.node}, and compare Allocatable with Allocated resources`;
    return [failed("scheduled", `The scheduler does not place the ${pod}: ${unscheduled}`, next)];
  }
  const scheduled = ok("scheduled", `The ${pod} is scheduled.`);
  if (!hasStarted && refusal !== undefined) {
    const next = "the logs of the kubelet and of the pods app=sriov-device-plugin on the node";
    return [scheduled, failed("resource", `The kubelet refuses the ${pod}: ${refusal}`, next)];
  }
  const resourceResult = ok("resource", `The ${pod} has a device of ${resource}.`);
  if (!hasStarted && sandboxError !== undefined) {
    const next = `kubectl get network-attachment-definition ${network.replace(/.*\//, "")} -o yaml, and the logs of Multus`;
    const text = `The CNI plugins do not attach the ${pod} to network ${network}: ${sandboxError.text}`;
    return [scheduled, resourceResult, failed("attach", text, next)];
  }
  if (hasStarted && view.attachment === undefined) {
    const text = `The ${pod} has started, but its annotation network-status does not contain network ${network}.`;
    return [scheduled, resourceResult, failed("attach", text, "check that Multus runs on the node")];
  }
  if (!hasStarted) {
    const text = `The container of the ${pod} has not started: ${waiting ?? "no reason is known"}`;
    const layer = waiting === undefined ? "attach" : "started";
    const before = layer === "started" ? [ok("attach", `The ${pod} is attached to network ${network}.`)] : [];
    return [
      scheduled,
      resourceResult,
      ...before,
      failed(layer, text, `kubectl describe pod ${view.name}; --image for another image`),
    ];
  }
  const attached = ok("attach", `The ${pod} is attached to network ${network}.`);
  return [scheduled, resourceResult, attached, ok("started", `The container of the ${pod} has started.`)];
}

function judgeInterface(
  seen: InterfaceObservation,
  { pod, view }: { readonly pod: string; readonly view: PodView },
): readonly LayerResult[] {
  const { found, names, vfioGroups } = seen;
  if (found === undefined) {
    if (vfioGroups.length > 0) {
      const text = `The ${pod} has VFIO group ${vfioGroups.join(", ")} and no network interface: only a program of the user can send packets.`;
      return interfaceLayers.map((layer) => notChecked(layer, text));
    }
    const text = `The ${pod} has no interface net1, only ${names.join(", ")}.`;
    return [failed("interface", text, "the log of the CNI plugin on the node")];
  }
  const isThere = ok("interface", `The ${pod} has the interface net1.`);
  if (!found.isUp || !found.hasCarrier) {
    const text = found.isUp
      ? `The interface net1 of the ${pod} has no carrier.`
      : `The interface net1 of the ${pod} is down.`;
    const next = "spec.linkState of the network, and the cable and the switch port of the PF";
    return [isThere, failed("link", text, next)];
  }
  const isUp = ok("link", `The interface net1 of the ${pod} is up.`);
  const [address] = found.addresses;
  if (address !== undefined) return [isThere, isUp, ok("address", `The ${pod} has the address ${address}.`)];
  const assigned = view.attachment?.addresses ?? [];
  if (assigned.length === 0) {
    return [isThere, isUp, notChecked("address", `The network gives the ${pod} no IP address: spec.ipam is empty.`)];
  }
  const text = `The ${pod} should have the address ${assigned.join(", ")}, but its interface net1 has none.`;
  return [isThere, isUp, failed("address", text, "spec.metaPlugins of the network, and the programs of the pod")];
}

function judgeRdma(
  seen: InterfaceObservation,
  { pod, view, expected }: { readonly pod: string; readonly view: PodView; readonly expected: NodeExpectation },
): LayerResult {
  const { isRdma, rdmaMode, resource } = expected;
  if (!isRdma && rdmaMode === undefined) {
    return notChecked("rdma", `No policy with the resource ${resource} has isRdma, and no pool requires an RDMA mode.`);
  }
  if (rdmaMode !== undefined && seen.rdmaMode !== undefined && seen.rdmaMode !== rdmaMode) {
    const text = `A pool requires the RDMA mode ${rdmaMode}, but node ${view.node} has the mode ${seen.rdmaMode}.`;
    return failed(
      "rdma",
      text,
      `kubectl describe sriovnetworknodestate ${view.node}: the node must be drained or rebooted first`,
    );
  }
  if (!isRdma) return ok("rdma", `Node ${view.node} has the RDMA mode ${rdmaMode ?? "of its kernel"}.`);
  if (seen.rdmaDevices.length === 0) {
    const mode = seen.rdmaMode === undefined ? "the module ib_core is not loaded" : `the RDMA mode is ${seen.rdmaMode}`;
    const next = 'in mode exclusive, the network needs the plugin {"type": "rdma"} in spec.metaPlugins';
    return failed("rdma", `The ${pod} sees no RDMA device; ${mode}.`, next);
  }
  if (!seen.hasUverbs) {
    const text = `The ${pod} sees the RDMA device ${seen.rdmaDevices.join(", ")}, but has no file /dev/infiniband/uverbs.`;
    return failed("rdma", text, "isRdma of the policies of the resource");
  }
  return ok("rdma", `The ${pod} has the RDMA device ${seen.rdmaDevices.join(", ")}.`);
}

export function ok(layer: Layer, text: string): LayerResult {
  return { layer, status: "ok", text };
}

export function notChecked(layer: Layer, text: string): LayerResult {
  return { layer, status: "notChecked", text };
}

export function failed(layer: Layer, text: string, next: string): LayerResult {
  return { layer, status: "failed", text, next };
}
