// SPDX-License-Identifier: Apache-2.0
/**
 * findCauses finds for each finding the one that explains it: an operator that does not run explains a drain that does not go on. A
 * person then reads one cause, and its consequences below it.
 */
import { hasLabels, type Labels } from "@switchyard/policy";
import { at, listAt, textAt } from "../json.ts";
import type { ObjectRef } from "./finding.ts";
import type { DetectedFinding } from "./rule.ts";
import type { Snapshot } from "./snapshot.ts";

/** Findings with these codes can explain findings with those, if `relates` says so of the two. */
interface Link {
  readonly causes: readonly string[];
  readonly consequences: readonly string[];
  readonly relates: (cause: DetectedFinding, consequence: DetectedFinding, snapshot: Snapshot) => boolean;
}

const operatorFails = ["NotInstalled", "OperatorNotInstalled", "OperatorNotRunning", "OperatorNotLeading"];
/** What waits for the operator. */
const operatorsWork = [
  ...["NodeStateMissing", "NodeLeftCordoned", "DrainWaits", "NetworkDefinitionMissing", "RollingOut"],
  ...["WaitingForDrain", "WaitingForSlot", "LookingForPods", "EvictingPods", "PodsStay", "Draining"],
];
/** Why a node is not configured, in conditions of its node state. */
const nodeFails = [
  ...["StepFailed", "StepHangs", "NotPossible", "PowerCycleRequired", "DiscoveryFailed", "PassFailed"],
  ...["ApiServerUnreachable", "GatewayUnreachable", "NodeSyncFailed", "NodeInProgressTooLong"],
];
/** What a node that has a drain slot waits for. */
const evictions = ["EvictingPods", "PodsStay", "LookingForPods", "DrainTakesLong"];
const drains = [...evictions, "WaitingForDrain"];

/** In the order in which causes are looked for: that of a component before that of a node before that of a policy. */
const links: readonly Link[] = [
  {
    causes: ["ContainerNotRunning"],
    consequences: ["OperatorNotRunning", "ComponentNotAvailable", "WebhookWithoutEndpoints", "RollingOut"],
    relates: isOfComponent,
  },
  { causes: operatorFails, consequences: [...operatorsWork, "OperatorNotLeading"], relates: differs },
  {
    causes: ["OperatorConfigMissing"],
    consequences: ["NoOperatorConfig", "NodeStateMissing", "NodeSelectorMatchesNothing"],
    relates: () => true,
  },
  {
    causes: ["DaemonPodNotRunning"],
    consequences: [
      ...["NodeNeverReported", "NodeNotConfiguredSinceBoot", "DevicePluginStale", "DaemonStalled"],
      ...nodeFails,
    ],
    relates: concernsSameNode,
  },
  {
    causes: ["DaemonPodNotRunning"],
    consequences: ["ComponentNotAvailable"],
    relates: (_, { object }) => object.name === "sriov-network-config-daemon",
  },
  { causes: ["DisruptionBudgetBlocksDrain"], consequences: drains, relates: concernsSameNode },
  { causes: evictions, consequences: ["WaitingForSlot", "DrainWaits"], relates: () => true },
  {
    causes: ["EvictingPods", "PodsStay", "DrainTakesLong", "WaitingForSlot"],
    consequences: ["WaitingForDrain"],
    relates: concernsSameNode,
  },
  { causes: ["NodeSetEmpty"], consequences: ["NoNodesMatched"], relates: () => true },
  { causes: ["NodeSelectorMatchesNothing"], consequences: ["NoNodesMatched"], relates: isSameObject },
  { causes: ["NicSelectorMatchesNothing"], consequences: ["NoNicsMatched"], relates: isSameObject },
  { causes: ["PolicyProblem", "PoolProblem"], consequences: ["Invalid", "Overlap"], relates: isSameObject },
  {
    causes: ["DaemonPodNotRunning", ...nodeFails, ...drains, "WaitingForSlot", "DrainWaits", "Rebooting", "HeldByPool"],
    consequences: ["NodesFailed", "Configuring", "DaemonStalled", "DevicePluginStale", "VfsMissing"],
    relates: concernsSameNode,
  },
];

/** Returns a function of one of the findings: the one that explains it best, of those that can; undefined if none does. */
export function findCauses(
  findings: readonly DetectedFinding[],
  snapshot: Snapshot,
): (finding: DetectedFinding) => DetectedFinding | undefined {
  const known = links.map((link) => ({ ...link, found: findings.filter(({ code }) => link.causes.includes(code)) }));
  return (finding) => {
    for (const { found, consequences, relates } of known) {
      if (!consequences.includes(finding.code)) continue;
      const cause = found.find((other) => other !== finding && relates(other, finding, snapshot));
      if (cause !== undefined) return cause;
    }
    return undefined;
  };
}

function differs(cause: DetectedFinding, consequence: DetectedFinding): boolean {
  return cause.code !== consequence.code;
}

function isSameObject({ object: a }: DetectedFinding, { object: b }: DetectedFinding): boolean {
  return a.kind === b.kind && a.name === b.name && a.namespace === b.namespace;
}

/** A policy concerns the nodes that it selects, and a pod that of a component. */
function concernsSameNode(cause: DetectedFinding, consequence: DetectedFinding, snapshot: Snapshot): boolean {
  const nodes = nodesOf(cause);
  const selector = nodeSelectorOf(consequence.object, snapshot);
  if (selector === undefined) return nodesOf(consequence).some((name) => nodes.includes(name));
  return nodes.some((name) => {
    const node = snapshot.nodes.get(name);
    return node !== undefined && hasLabels(node.labels, selector);
  });
}

/** Undefined for objects that are no policies. */
function nodeSelectorOf({ kind, name }: ObjectRef, { cluster }: Snapshot): Labels | undefined {
  if (!kind.endsWith("NodePolicy")) return undefined;
  const policies = kind === "AfxdpNetworkNodePolicy" ? cluster.afxdp.policies : cluster.policies;
  return policies.find(({ metadata }) => metadata.name === name)?.spec.nodeSelector;
}

function nodesOf({ object, nodes }: DetectedFinding): readonly string[] {
  return nodes ?? (isOfNode(object) ? [object.name] : []);
}

/** Whether the object is a node or the state of one. */
function isOfNode({ kind }: ObjectRef): boolean {
  return kind === "Node" || kind === "SriovNetworkNodeState" || kind === "AfxdpNetworkNodeState";
}

/** Pods are called after their DaemonSet or Deployment, and have the labels that the Service of a webhook selects. */
function isOfComponent(cause: DetectedFinding, { code, object }: DetectedFinding, snapshot: Snapshot): boolean {
  if (code === "RollingOut") return true;
  if (code !== "WebhookWithoutEndpoints")
    return cause.object.name.startsWith(`${object.name}-`) || isOperator(cause, code, snapshot);
  const webhooks = snapshot.objectsOf(object.kind).filter(({ name }) => name === object.name);
  const services = webhooks.flatMap((manifest) =>
    listAt(manifest.object, "webhooks").map((webhook) => textAt(at(webhook, "clientConfig", "service"), "name") ?? ""),
  );
  const app = podOf(cause, snapshot)?.labels["app"];
  return app !== undefined && services.some((service) => service === app || service === `${app}-service`);
}

function isOperator(cause: DetectedFinding, code: string, snapshot: Snapshot): boolean {
  return code === "OperatorNotRunning" && podOf(cause, snapshot)?.labels["name"] === "sriov-network-operator";
}

function podOf({ object }: DetectedFinding, { pods }: Snapshot) {
  return pods.find(({ namespace, name }) => namespace === object.namespace && name === object.name);
}
