// SPDX-License-Identifier: Apache-2.0
/**
 * simulateNode configures a node with a fake kernel by the functions of operator and daemon, and records what happens.
 */
import type {
  Node,
  SriovNetworkNodePolicy,
  SriovNetworkNodeState,
  SriovNetworkPoolConfig,
  SriovOperatorConfig,
} from "@switchyard/api";
import { daemonOn, type PassResult } from "@switchyard/config-daemon/testing";
import { createFakeKernel, withQuirks, type FakeKernel } from "@switchyard/host/testing";
import { describeStep, type Step } from "@switchyard/plan";
import { createRules, firmwarePolicyOf, mergePolicies, nodeStateSpec } from "@switchyard/policy";
import { models, slots, type RandomChange, type RandomDemand } from "./random-change.ts";

const apiVersion = "sriovnetwork.openshift.io/v1";
export const namespace = "sriov-network-operator";
const desiredState = "sriovnetwork.openshift.io/desired-state";
const currentState = "sriovnetwork.openshift.io/current-state";

/** What the daemon did. */
export interface DaemonRun {
  readonly impact: "none" | "drain" | "reboot";
  /** In the order in which they ended. */
  readonly steps: readonly DoneStep[];
  readonly reboots: number;
  /** Whether the daemon ended with nothing left to do and no failure. */
  readonly isSettled: boolean;
  /** The error of the last report; "" if there is none. */
  readonly error: string;
}

export interface DoneStep {
  readonly text: string;
  /** Absent for a step of the node or of a card. */
  readonly pciAddress?: string;
}

export interface SimulatedNode {
  readonly node: Node;
  readonly demands: Readonly<Record<"before" | "after", NodeObjects>>;
  /** The node state as the cluster has it. */
  state(): SriovNetworkNodeState;
  apply(which: "before" | "after"): Promise<DaemonRun>;
}

/** The objects that apply to a node. */
export interface NodeObjects {
  readonly policies: readonly SriovNetworkNodePolicy[];
  readonly pools: readonly SriovNetworkPoolConfig[];
}

/** The configuration of the operator. */
export const operatorConfig: SriovOperatorConfig = {
  apiVersion,
  kind: "SriovOperatorConfig",
  metadata: { name: "default", namespace },
  spec: { featureGates: { manageSoftwareBridges: true } },
};

/** Passes until a change must have ended. */
const maxPasses = 12;

export function simulateNode(name: string, change: RandomChange): SimulatedNode {
  const kernel = createFakeKernel({
    nics: change.models.map((model, at) => withQuirks(models[model](slots[at] ?? slots[0]), change.quirks[at] ?? {})),
    ...({ managesOvs: true, rdmaMode: "shared" } as const),
    ...(change.needsReboots && ({ iommu: "with-argument" } as const)),
  });
  const node: Node = {
    apiVersion: "v1",
    kind: "Node",
    metadata: { name, labels: labelsOfNode(name) },
  };
  const demands = { before: demandOf(name, change.before), after: demandOf(name, change.after) };
  let state: SriovNetworkNodeState = {
    apiVersion,
    kind: "SriovNetworkNodeState",
    metadata: { name, namespace, generation: 1 },
    spec: {},
  };

  return {
    node,
    demands,
    state: () => state,
    async apply(which) {
      const steps: DoneStep[] = [];
      const requests: string[] = [];
      let reboots = 0;
      const onStep = (step: Step): void => {
        steps.push({ text: describeStep(step), ...("pciAddress" in step && { pciAddress: step.pciAddress }) });
      };
      const firmwarePolicy = firmwarePolicyOf(operatorConfig);
      const start = () => daemonOn(kernel.host(), { drains: true, onStep, firmwarePolicy });
      let daemon = start();
      if (state.status === undefined) {
        await daemon.pass(state); // the first report, without which no policy matches
        state = { ...state, status: daemon.status() };
        steps.length = 0;
      }
      const rules = createRules({ ...demands[which], operatorConfig });
      const interfaces = state.status?.interfaces ?? [];
      state = { ...state, spec: nodeStateSpec(mergePolicies(node, interfaces, rules), state) };
      let result: PassResult | "rebooting" = "retry";
      for (let pass = 0; pass < maxPasses && result !== "settled"; pass++) {
        result = await passUntilReboot(kernel, daemon, withAnswer(state, requests.at(-1)));
        requests.push(...daemon.requests.splice(0));
        if (result !== "rebooting") continue;
        reboots += 1;
        kernel.reboot();
        daemon = start();
      }
      state = { ...state, status: daemon.status() };
      const isDrained = requests.some((request) => request !== "Idle");
      const impact = reboots > 0 ? "reboot" : isDrained ? "drain" : "none";
      return { impact, steps, reboots, isSettled: result === "settled", error: daemon.error() };
    },
  };
}

/** Runs a pass, which never ends by itself after it has requested a reboot. */
async function passUntilReboot(
  kernel: FakeKernel,
  daemon: ReturnType<typeof daemonOn>,
  state: SriovNetworkNodeState,
): Promise<PassResult | "rebooting"> {
  const before = kernel.requestedReboots.length;
  const stop = new AbortController();
  const poll = setInterval(() => {
    if (kernel.requestedReboots.length > before) stop.abort(new Error("the machine reboots"));
  }, 1);
  try {
    return await daemon.pass(state, stop.signal);
  } catch (error) {
    if (!stop.signal.aborted) throw error;
    return "rebooting";
  } finally {
    clearInterval(poll);
  }
}

/**
 * PFs are configured at the same time; the order of the steps of each one counts. Steps of the node have an order only as far as PFs need
 * it: what a drain must precede follows the PFs that need none.
 */
export function inOrder<T extends DoneStep>(steps: readonly T[]): readonly T[] {
  const ofNode = steps.filter(({ pciAddress }) => pciAddress === undefined);
  const ofPfs = steps.filter(({ pciAddress }) => pciAddress !== undefined);
  return [
    ...ofNode.toSorted((a, b) => (a.text < b.text ? -1 : 1)),
    ...ofPfs.toSorted(({ pciAddress: a = "" }, { pciAddress: b = "" }) => (a < b ? -1 : Number(a > b))),
  ];
}

/** The answer of an operator that has drained the node as requested. */
function withAnswer(state: SriovNetworkNodeState, request: string | undefined): SriovNetworkNodeState {
  const annotations = request === undefined ? {} : { [desiredState]: request, [currentState]: "DrainComplete" };
  return { ...state, metadata: { ...state.metadata, annotations } };
}

/** The labels of a worker node that its policies and its pool select. */
export function labelsOfNode(name: string): Readonly<Record<string, string>> {
  return { run: name, "kubernetes.io/os": "linux", "node-role.kubernetes.io/worker": "" };
}

/** A pool of this node alone. */
export function poolOf(name: string): SriovNetworkPoolConfig {
  return {
    apiVersion,
    kind: "SriovNetworkPoolConfig",
    metadata: { name, namespace },
    spec: { nodeSelector: { matchLabels: { run: name } } },
  };
}

/** The objects for the node. */
export function demandOf(name: string, { policies, rdmaMode }: RandomDemand): NodeObjects {
  const pool = poolOf(name);
  return {
    policies: policies.map((spec, at) => ({
      apiVersion,
      kind: "SriovNetworkNodePolicy",
      metadata: { name: `${name}-${at}`, namespace },
      spec: { ...spec, nodeSelector: { run: name } },
    })),
    pools: rdmaMode === undefined ? [] : [{ ...pool, spec: { ...pool.spec, rdmaMode } }],
  };
}
