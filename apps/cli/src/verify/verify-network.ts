// SPDX-License-Identifier: Apache-2.0
/** verifyNetwork checks one network on all nodes that offer its resource, and judges what its pods have observed. */
import type { SriovNetworkNodeState } from "@switchyard/api";
import type { Snapshot } from "../diagnosis/snapshot.ts";
import { judgePair, judgeSinglePod, type PairContext } from "./judge-pair.ts";
import { failed, notChecked, type NodeExpectation } from "./judge-pod.ts";
import { checkOf, layerNames, type Check } from "./layers.ts";
import { candidatesFor, expectationFor, taintsOf, vlanOfVf } from "./node-facts.ts";
import { groupsOf, planPods, type LeftOutNode, type PlannedPod } from "./plan-pods.ts";
import type { PodView } from "./pod-view.ts";
import { runPods, type RunOptions } from "./run-pods.ts";
import type { VerifyTarget } from "./verify-target.ts";

/** What was found out about one network. */
export interface Verification {
  /** "namespace/name" of the NetworkAttachmentDefinition. */
  readonly network: string;
  readonly kind: string;
  readonly resource: string;
  readonly vlan: number;
  readonly checks: readonly Check[];
}

export interface VerifyOptions extends Pick<
  RunOptions,
  "client" | "image" | "timeoutMs" | "throughputSeconds" | "signal" | "clock" | "note"
> {
  /** Names of nodes; none means all. */
  readonly nodes: readonly string[];
  /** Makes the identity of a group of pods. */
  readonly nextRun: () => string;
}

/** Nodes that are verified at the same time. */
const groupSize = 16;

/** Rejects as runPods. */
export async function verifyNetwork(
  snapshot: Snapshot,
  target: VerifyTarget,
  options: VerifyOptions,
): Promise<Verification> {
  const { resource, vlan, network, kind, other } = target;
  const { nodes, leftOut } = candidatesFor(snapshot, resource, options.nodes);
  const checks = leftOut.map(leftOutCheck);
  for (const [at, group] of groupsOf(nodes, groupSize).entries()) {
    const plan = planPods(group, { resource, hasOtherNetwork: other !== undefined });
    // The first node of a further group was in the one before.
    const leftOutNow = plan.leftOut.filter(({ node }) => at === 0 || node !== group[0]?.name);
    checks.push(...leftOutNow.map(leftOutCheck));
    const { client, nextRun, note } = options;
    if (plan.pods.length === 0) continue;
    note(plan.pods.length === 1 ? "creating 1 pod" : `creating ${plan.pods.length} pods`);
    const views = await runPods({
      ...options,
      target,
      pods: plan.pods,
      run: nextRun(),
      taintsOf: (node) => taintsOf(snapshot, node),
    });
    const states = new Map<string, SriovNetworkNodeState | undefined>();
    for (const { name } of group) states.set(name, (await client.nodeState(name)) ?? snapshot.cluster.states.get(name));
    const expectationOf = (node: string): NodeExpectation => expectationFor(states.get(node), { resource, vlan });
    const judged = judgeGroup(plan.pods, views, {
      others: views.filter(({ role }) => role === "other-network"),
      otherVlan: other?.vlan ?? 0,
      vlanOfVf: (view) => vlanOfVf(states.get(view.node), view.attachment?.pciAddress),
      expectationOf,
      isThroughputWanted: options.throughputSeconds > 0,
    });
    const known = new Set(checks.map(keyOf));
    checks.push(...judged.filter((check) => !known.has(keyOf(check))));
  }
  return { network: `${network.namespace}/${network.name}`, kind, resource, vlan, checks };
}

/** A check for each pair, and for each pod that belongs to none. */
export function judgeGroup(
  pods: readonly PlannedPod[],
  views: readonly PodView[],
  context: PairContext,
): readonly Check[] {
  const paired = new Set<PodView>();
  const pairs = pods
    .filter(({ role }) => role === "sends")
    .flatMap(({ node, targets }) => {
      const sender = views.find((view) => view.node === node && view.role === "sends");
      return targets.flatMap((to) => {
        const answerer = views.find((view) => view.node === to && view.role === "answers");
        if (sender === undefined || answerer === undefined) return [];
        paired.add(sender).add(answerer);
        return [judgePair(sender, answerer, context)];
      });
    });
  const singles = views
    .filter((view) => view.role !== "other-network" && !paired.has(view))
    .map((view) => judgeSinglePod(view, context.expectationOf(view.node)));
  return [...singles, ...pairs].sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
}

function keyOf({ node, peerNode = "" }: Check): string {
  return `${node} ${peerNode}`;
}

function leftOutCheck({ node, isProblem, text }: LeftOutNode): Check {
  const sentence = `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
  const next = `switchyard doctor, and kubectl describe sriovnetworknodestate ${node}`;
  const first = isProblem ? failed("resource", sentence, next) : notChecked("resource", sentence);
  const rest = layerNames.filter((layer) => layer !== "resource");
  return checkOf({ node }, [first, ...rest.map((layer) => notChecked(layer, "Not checked: the node has no pod."))]);
}
