// SPDX-License-Identifier: Apache-2.0
/**
 * judgePair says which layers between two pods work, the one that sends and the one that answers. It decides by what both have
 * observed, and by what a pod of another network received.
 */
import { checkOf, layerNames, type Check, type Layer, type LayerResult } from "./layers.ts";
import { failed, judgePod, notChecked, ok, type NodeExpectation } from "./judge-pod.ts";
import type { FoundInterface, TargetObservation } from "./observation.ts";
import { hears, interfaceOf, targetOf, type PodView } from "./pod-view.ts";

export interface PairContext {
  /** Pods of another network, and its VLAN. */
  readonly others: readonly PodView[];
  readonly otherVlan: number;
  /** VLAN that the PF has assigned to the VF of a pod, as the node state says; undefined if it is not known. */
  readonly vlanOfVf: (view: PodView) => number | undefined;
  readonly expectationOf: (node: string) => NodeExpectation;
  /** Whether throughput was asked for. */
  readonly isThroughputWanted: boolean;
}

/** The check of a pod that no other pod sends to. */
export function judgeSinglePod(view: PodView, expected: NodeExpectation): Check {
  const results = judgePod(view, expected);
  return checkOf({ node: view.node }, complete(results, "there is no other pod to send to"));
}

export function judgePair(sender: PodView, answerer: PodView, context: PairContext): Check {
  const { expectationOf } = context;
  const own = merged(judgePod(sender, expectationOf(sender.node)), judgePod(answerer, expectationOf(answerer.node)));
  const nodes = { node: sender.node, peerNode: answerer.node };
  const [from, to] = [interfaceOf(sender)?.found, interfaceOf(answerer)?.found];
  const isBroken = own.some(({ layer, status }) => status === "failed" && layer !== "rdma");
  if (isBroken || from === undefined || to === undefined) {
    return checkOf(nodes, complete(own, "a lower layer does not work, or the pods have no interface"));
  }
  const found: Found = { sender, answerer, from, to, target: targetOf(sender, answerer.name) };
  const between = [...judgeIdentity(found, own), judgeVlan(found, context), ...judgePackets(found, context)];
  const replaced = own.filter(({ layer }) => !between.some((result) => result.layer === layer));
  return checkOf(nodes, complete([...replaced, ...between], "a lower layer does not work"));
}

interface Found {
  readonly sender: PodView;
  readonly answerer: PodView;
  readonly from: FoundInterface;
  readonly to: FoundInterface;
  /** Undefined if the sender has sent nothing. */
  readonly target: TargetObservation | undefined;
}

/** MAC and IP addresses must differ. */
function judgeIdentity({ sender, answerer, from, to }: Found, own: readonly LayerResult[]): readonly LayerResult[] {
  const both = `${nameOf(sender)} and ${nameOf(answerer)}`;
  const mac =
    from.mac === to.mac
      ? failed(
          "mac",
          `The ${both} have the same MAC address ${from.mac}.`,
          "MAC addresses in the network or in the pods' annotations",
        )
      : ok("mac", `The pods have the MAC addresses ${from.mac} and ${to.mac}.`);
  const same = from.addresses.map(withoutPrefix).find((address) => to.addresses.map(withoutPrefix).includes(address));
  const address = own.find(({ layer }) => layer === "address");
  if (same === undefined) return address === undefined ? [mac] : [mac, address];
  const next =
    "an IPAM plugin that knows the addresses of all nodes, such as whereabouts; host-local knows those of its node only";
  return [mac, failed("address", `The ${both} have the same address ${same}.`, next)];
}

function judgeVlan({ sender, answerer, target }: Found, context: PairContext): LayerResult {
  const { others, otherVlan, expectationOf, vlanOfVf } = context;
  const { vlan } = expectationOf(sender.node);
  const pair = [sender, answerer];
  // A switch may drop multicast and broadcast.
  const isTogether = hears(sender, answerer) || hears(answerer, sender) || (target?.small.received ?? 0) > 0;
  for (const view of pair) {
    const other = others.find((candidate) => hears(view, candidate) || hears(candidate, view));
    if (other === undefined) continue;
    const text = isTogether
      ? `Network ${sender.network} (${vlanText(vlan)}) is not separate from network ${other.network} (${vlanText(otherVlan)}): frames pass between the ${nameOf(view)} and the ${nameOf(other)}.`
      : `The ${nameOf(view)} should be in ${vlanText(vlan)}, but it is in ${vlanText(otherVlan)}: frames pass between it and the ${nameOf(other)} of network ${other.network}.`;
    return failed("vlan", text, `spec.vlan of the network, and switchyard vfs --node ${view.node}`);
  }
  if (!isTogether) {
    const wrong = pair.find((view) => (vlanOfVf(view) ?? vlan) !== vlan);
    if (wrong !== undefined) {
      const text = `The PF has assigned ${vlanText(vlanOfVf(wrong) ?? 0)} to the VF of the ${nameOf(wrong)}; network ${wrong.network} has ${vlanText(vlan)}.`;
      return failed("vlan", text, `who changes VFs on node ${wrong.node} beside the CNI plugin`);
    }
    if (sender.node !== answerer.node && vlan !== 0) {
      const text = `No frame of ${vlanText(vlan)} passes between the ${nameOf(sender)} and the ${nameOf(answerer)}.`;
      return failed("vlan", text, `whether the switch ports of both nodes carry ${vlanText(vlan)}`);
    }
    return notChecked("vlan", "The pods receive no frame of each other, and none of another network.");
  }
  if (others.length === 0) {
    return notChecked("vlan", "There is no pod of a network in another VLAN, or no VF is free for one.");
  }
  const network = others[0]?.network ?? "";
  return ok("vlan", `No frame passes between ${vlanText(vlan)} and ${vlanText(otherVlan)} of network ${network}.`);
}

/** Route, neighbour, small and full packets, throughput. */
function judgePackets(found: Found, context: PairContext): readonly LayerResult[] {
  const { sender, answerer, from, to, target } = found;
  if (from.addresses.length === 0 || to.addresses.length === 0) {
    const isTogether = hears(sender, answerer) && hears(answerer, sender);
    const text = "The pods have no IP address, so only frames between them were checked.";
    const frames = `${nameOf(sender)} and the ${nameOf(answerer)}`;
    const ping = isTogether
      ? ok("ping", `Frames pass between the ${frames} in both directions.`)
      : failed(
          "ping",
          `No frames pass between the ${frames}.`,
          "the switch between the nodes, and spoofChk and trust of the network",
        );
    return [ping, ...(["route", "neighbour", "mtu"] as const).map((layer) => notChecked(layer, text))];
  }
  if (target === undefined) {
    return [
      failed(
        "ping",
        `The ${nameOf(sender)} has not reported any packet.`,
        `kubectl logs ${sender.name}, or a longer --timeout`,
      ),
    ];
  }
  const route = judgeRoute(found, target);
  if (route.status === "failed") return [route];
  const neighbour = judgeNeighbour(found, target);
  if (neighbour.status === "failed") return [route, neighbour];
  const { small } = target;
  if (small.received === 0) {
    const reason = small.error === undefined ? "none returned" : `the kernel answered ${small.error}`;
    const text = `The ${nameOf(sender)} sent ${small.sent} packets to the ${nameOf(answerer)}, and ${reason}.`;
    return [route, neighbour, failed("ping", text, "firewalls, and spoofChk and trust of the network")];
  }
  const ping = ok("ping", `${small.received} of ${small.sent} packets returned.`);
  return [route, neighbour, ping, judgeMtu(found, target, context), judgeThroughput(target, context)];
}

function judgeRoute({ sender, answerer, to }: Found, target: TargetObservation): LayerResult {
  const address = withoutPrefix(to.addresses[0] ?? "");
  const { routeInterface, neighbour } = target;
  // A source-based route is in another table. The kernel then still asks for the neighbour on the interface.
  if (routeInterface === "net1" || neighbour !== undefined) {
    return ok("route", `Packets to ${address} leave by net1.`);
  }
  const way = routeInterface === undefined ? "there is no route" : `packets leave by ${routeInterface}`;
  const text = `The ${nameOf(sender)} has no route to ${address} of the ${nameOf(answerer)} by net1: ${way}.`;
  return failed("route", text, "the subnet, the prefix length and the routes in spec.ipam of the network");
}

function judgeNeighbour({ sender, answerer, to }: Found, { neighbour, small }: TargetObservation): LayerResult {
  if (neighbour === undefined) {
    const text = "There is no ARP entry: the address is one of IPv6, or the packets go by a gateway.";
    return notChecked("neighbour", text);
  }
  if (!neighbour.isComplete && small.received === 0) {
    const text = `The ${nameOf(answerer)} does not answer ARP of the ${nameOf(sender)}.`;
    return failed("neighbour", text, "the VLAN of the switch ports, and whether the switch connects them");
  }
  if (neighbour.isComplete && neighbour.mac !== to.mac) {
    const text = `${neighbour.mac} answers ARP for the address of the ${nameOf(answerer)}, which has the MAC address ${to.mac}.`;
    return failed("neighbour", text, "which other device has this address");
  }
  return ok("neighbour", `The ${nameOf(answerer)} answers ARP.`);
}

function judgeMtu(
  { sender, answerer, from, to }: Found,
  { full }: TargetObservation,
  context: PairContext,
): LayerResult {
  const mtu = (view: PodView): number | undefined => context.expectationOf(view.node).mtu;
  const low = [
    { view: sender, has: from.mtu },
    { view: answerer, has: to.mtu },
  ].find(({ view, has }) => has < (mtu(view) ?? 0));
  const next = "mtu of the policies, and the MTU of the switch ports";
  if (from.mtu !== to.mtu) {
    const text = `The interface of the ${nameOf(sender)} has the MTU ${from.mtu}, that of the ${nameOf(answerer)} ${to.mtu}.`;
    return failed("mtu", text, next);
  }
  if (low !== undefined) {
    const text = `A policy sets the MTU ${mtu(low.view) ?? 0}, but the interface of the ${nameOf(low.view)} has ${low.has}.`;
    return failed("mtu", text, next);
  }
  if (full.fragmented > 0) {
    return failed("mtu", `Packets of ${full.bytes} bytes were cut into fragments: the path has a smaller MTU.`, next);
  }
  if (full.received === 0) {
    const reason = full.error === undefined ? "none returned" : `the kernel answered ${full.error}`;
    const text = `${full.sent} packets of ${full.bytes} bytes that may not be fragmented were sent, and ${reason}; small packets return.`;
    return failed("mtu", text, next);
  }
  return ok("mtu", `${full.received} of ${full.sent} packets of ${full.bytes} bytes returned in one piece.`);
}

function judgeThroughput(
  { throughputMbps, throughputError }: TargetObservation,
  { isThroughputWanted }: PairContext,
): LayerResult {
  if (!isThroughputWanted) return notChecked("throughput", "It was not requested.");
  if (throughputMbps === undefined || throughputMbps === 0) {
    const text = `The TCP stream failed: ${throughputError ?? "no byte arrived"}.`;
    return failed("throughput", text, "firewalls and the switch between the nodes");
  }
  return ok("throughput", `${throughputMbps} Mbit/s.`);
}

/** The worse result of each layer of two pods; of equal ones the first. */
function merged(first: readonly LayerResult[], second: readonly LayerResult[]): readonly LayerResult[] {
  const rank = { failed: 0, notChecked: 1, ok: 2 } as const;
  return layerNames.flatMap((layer) => {
    const [worst] = [...first, ...second]
      .filter((result) => result.layer === layer)
      .sort((a, b) => rank[a.status] - rank[b.status]);
    return worst ?? [];
  });
}

function complete(results: readonly LayerResult[], reason: string): readonly LayerResult[] {
  const missing = layerNames.filter((layer: Layer) => !results.some((result) => result.layer === layer));
  return [...results, ...missing.map((layer) => notChecked(layer, `Not checked: ${reason}.`))];
}

function nameOf({ name, node }: PodView): string {
  return `pod ${name} on node ${node}`;
}

function vlanText(vlan: number): string {
  return vlan === 0 ? "no VLAN" : `VLAN ${vlan}`;
}

function withoutPrefix(cidr: string): string {
  return cidr.replace(/\/.*/, "");
}
