// SPDX-License-Identifier: Apache-2.0
/**
 * playNode configures a node with a fake kernel by the functions of operator and daemon, and records what happens.
 * Usage: `const node = playNode("r0", change); await node.apply("before"); const happened = await node.apply("after");`
 */
import type { Node, SriovNetworkNodePolicy, SriovNetworkNodeState } from "@switchyard/api";
import { daemonOn } from "@switchyard/config-daemon/testing";
import { createFakeKernel } from "@switchyard/host/testing";
import { describeStep, type Step } from "@switchyard/plan";
import { createRules, mergePolicies, nodeStateSpec } from "@switchyard/policy";
import { models, slots, type RandomChange } from "./random-change.ts";

const apiVersion = "sriovnetwork.openshift.io/v1";
export const namespace = "sriov-network-operator";
const desiredState = "sriovnetwork.openshift.io/desired-state";
const currentState = "sriovnetwork.openshift.io/current-state";

/** What the daemon did. */
export interface Happened {
  readonly impact: "none" | "drain" | "reboot";
  /** Descriptions of the steps in the order of each PF; PFs in the order of their addresses. */
  readonly steps: readonly string[];
  /** Whether the daemon ended with nothing left to do and no failure. */
  readonly isSettled: boolean;
}

export interface PlayedNode {
  readonly node: Node;
  readonly policies: Readonly<Record<"before" | "after", readonly SriovNetworkNodePolicy[]>>;
  /** The node state as the cluster has it. */
  state(): SriovNetworkNodeState;
  apply(which: "before" | "after"): Promise<Happened>;
}

/** Passes until a change must have ended. */
const maxPasses = 8;

export function playNode(name: string, change: RandomChange): PlayedNode {
  const kernel = createFakeKernel({
    nics: change.models.map((model, at) => models[model](slots[at] ?? slots[0])),
  });
  const node: Node = {
    ...{ apiVersion: "v1", kind: "Node" },
    metadata: { name, labels: { run: name, "kubernetes.io/os": "linux", "node-role.kubernetes.io/worker": "" } },
  };
  const policies = { before: policiesOf(name, change.before), after: policiesOf(name, change.after) };
  let state: SriovNetworkNodeState = {
    ...{ apiVersion, kind: "SriovNetworkNodeState", metadata: { name, namespace, generation: 1 } },
    spec: {},
  };

  return {
    node,
    policies,
    state: () => state,
    async apply(which) {
      const steps: Step[] = [];
      const daemon = daemonOn(kernel.host(), { drains: true, onStep: (step) => steps.push(step) });
      const first = which === "before" && state.status === undefined;
      if (first) {
        await daemon.pass(state); // the first report, without which no policy matches
        state = { ...state, status: daemon.status() };
        steps.length = 0;
      }
      const rules = createRules({ policies: policies[which], pools: [] });
      const interfaces = state.status?.interfaces ?? [];
      state = { ...state, spec: nodeStateSpec(mergePolicies(node, interfaces, rules), state) };
      let result = await daemon.pass(withAnswer(state, undefined));
      for (let pass = 1; pass < maxPasses && result !== "settled"; pass++) {
        result = await daemon.pass(withAnswer(state, daemon.requests.at(-1)));
      }
      state = { ...state, status: daemon.status() };
      const impact = steps.some(({ kind }) => kind === "reboot")
        ? "reboot"
        : daemon.requests.some((request) => request !== "Idle")
          ? "drain"
          : "none";
      return { impact, steps: inOrder(steps).map(describeStep), isSettled: result === "settled" };
    },
  };
}

/** PFs are configured at the same time; the order of the steps of each one counts. */
export function inOrder<T extends object>(steps: readonly T[]): readonly T[] {
  return [...Map.groupBy(steps, addressOf)].sort(([a], [b]) => (a < b ? -1 : 1)).flatMap(([, same]) => same);
}

function addressOf(step: object): string {
  return "pciAddress" in step ? String(step.pciAddress) : "";
}

/** The answer of an operator that has drained the node as requested. */
function withAnswer(state: SriovNetworkNodeState, request: string | undefined): SriovNetworkNodeState {
  const annotations = request === undefined ? {} : { [desiredState]: request, [currentState]: "DrainComplete" };
  return { ...state, metadata: { ...state.metadata, annotations } };
}

function policiesOf(name: string, specs: RandomChange["before"]): readonly SriovNetworkNodePolicy[] {
  return specs.map((spec, at) => ({
    ...{ apiVersion, kind: "SriovNetworkNodePolicy", metadata: { name: `${name}-${at}`, namespace } },
    spec: { ...spec, nodeSelector: { run: name } },
  }));
}
