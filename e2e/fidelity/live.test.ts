// SPDX-License-Identifier: Apache-2.0
/**
 * What `switchyard plan` predicts for a sample of random nodes is what then happens on a real API server with the
 * operator as a process and the config daemon on fake kernels. Compares which nodes are drained and rebooted, and which
 * pods are evicted. Every second daemon knows which pods have VFs. SEED repeats a run, SAMPLE changes the number of nodes.
 */
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { annotations, drainAnswers, drainRequests } from "@switchyard/api";
import { createLogger } from "@switchyard/service";
import { eventually, findWorkspaceRoot, runProgram } from "@switchyard/testing";
import fc from "fast-check";
import { createWriteStream } from "node:fs";
import { join } from "node:path";
import { appsNamespace, startDrainCluster, type DrainCluster } from "../integration/drain/drain-cluster.ts";
import { liveKubelet, type LiveKubelet } from "./live-kubelet.ts";
import { startLiveNode, type LiveNode } from "./live-node.ts";
import { demandOf, namespace, operatorConfig, poolOf } from "./simulated-node.ts";
import { randomChange, type RandomChange } from "./random-change.ts";

const seed = Number(process.env["SEED"] ?? Date.now() % 1_000_000);
const sample = Number(process.env["SAMPLE"] ?? 40);
const withinMs = 300_000;

interface Outcome {
  readonly impact: "none" | "drain" | "reboot";
  /** Names of evicted pods. */
  readonly evicted: readonly string[];
}

interface Plans {
  readonly nodes: readonly {
    readonly node: string;
    readonly impact: Outcome["impact"];
    readonly drainedVfs?: string;
    readonly pods?: { readonly evicted: readonly { readonly name: string }[] };
    readonly steps: readonly unknown[];
  }[];
}

const stack = new AsyncDisposableStack();
const changes = fc.sample(randomChange, { numRuns: sample, seed });
const names = changes.map((_change, at) => `r${at}`);
let cluster: DrainCluster;
let nodes: readonly LiveNode[];
/** By the name of the node. */
const kubelets = new Map<string, LiveKubelet>();
const drained = new Set<string>();

beforeAll(async () => {
  cluster = stack.use(await startDrainCluster());
  await cluster.apply(operatorConfig);
  const stream = createWriteStream(join(cluster.cluster.dataDir, "daemons.log"));
  const { log } = createLogger({ service: "config-daemon", level: "info", stream });
  nodes = await Promise.all(
    changes.map(async (change, at) => {
      const name = `r${at}`;
      const kubelet = liveKubelet({
        namespace: appsNamespace,
        state: () => cluster.states.get(name),
        hasPod: (pod) => cluster.pods.get(pod) !== undefined,
      });
      if (at % 2 === 0) kubelets.set(name, kubelet);
      return stack.use(await startLiveNode(name, change, { cluster, log, kubelet: kubelets.get(name) }));
    }),
  );
  cluster.states.subscribe(({ key, after }) => {
    const request = after?.metadata.annotations?.[annotations.desiredState] ?? drainRequests.idle;
    if (request !== drainRequests.idle) drained.add(key);
  });
  await eventually("the first reports", () => names.every((name) => cluster.states.get(name)?.status?.interfaces), {
    withinMs,
  });
}, 600_000);

afterAll(() => stack.disposeAsync(), 120_000);

describe(`a plan of a cluster (seed ${seed})`, () => {
  it("names the pods that are then evicted, and the nodes that reboot", async () => {
    await demand((change) => change.before);
    say(`${sample} nodes have their first policies`);
    const pods = await addPods();
    await giveVfs(pods);
    const rebootsBefore = new Map(nodes.map((node) => [node.name, node.reboots()]));
    drained.clear();

    const plans = await planNext();
    await demand((change) => change.after);
    say("all changes are applied");

    const happened = nodes.map(({ name, reboots }): readonly [string, Outcome] => {
      const isRebooted = reboots() > (rebootsBefore.get(name) ?? 0);
      const impact = isRebooted ? "reboot" : drained.has(name) ? "drain" : "none";
      const gone = (pods.get(name) ?? []).filter((pod) => cluster.pods.get(pod) === undefined);
      return [name, { impact, evicted: gone.toSorted() }];
    });
    const predicted = plans.nodes.map(({ node, impact, pods: of }): readonly [string, Outcome] => [
      node,
      { impact, evicted: (of?.evicted ?? []).map(({ name }) => name).toSorted() },
    ]);
    const evictions = happened.reduce((sum, [, { evicted }]) => sum + evicted.length, 0);
    const count = (impact: string): number => happened.filter(([, one]) => one.impact === impact).length;
    say(`${count("drain")} drains, ${count("reboot")} reboots, ${evictions} evictions (seed ${seed})`);
    expect(Object.fromEntries(happened)).toEqual(Object.fromEntries(predicted));
    const byDevice = plans.nodes.filter(({ drainedVfs }) => drainedVfs !== undefined).length;
    say(`${byDevice} drains of single VFs`);
    expect([count("none") > 0, count("drain") > 0, evictions > 0, byDevice > 0]).toEqual([true, true, true, true]);
  }, 900_000);
});

/**
 * Replaces the policies and pools of all nodes at once, and waits until no node has steps left. The operator does not
 * run meanwhile, so that it sees no policies without the others.
 */
async function demand(of: (change: RandomChange) => RandomChange["before"]): Promise<void> {
  await cluster.killOperator();
  const kinds = "sriovnetworknodepolicies,sriovnetworkpoolconfigs";
  await cluster.cluster.kubectl(["delete", kinds, "--all", "-n", namespace]);
  await cluster.apply(listOf(of));
  await cluster.startOperator();
  await eventually(
    "all nodes are done",
    async () => {
      const { nodes: plans } = await plan(["--kubeconfig", cluster.cluster.kubeconfig]);
      return plans.length === sample && plans.every(({ steps, node }) => steps.length === 0 && isIdle(node));
    },
    { withinMs },
  );
}

function isIdle(node: string): boolean {
  const { [annotations.desiredState]: request, [annotations.currentState]: answer } =
    cluster.states.get(node)?.metadata.annotations ?? {};
  return request === drainRequests.idle && answer === drainAnswers.idle;
}

/** The policies of all nodes, and a pool for each node, which does not wait for the others. */
function listOf(of: (change: RandomChange) => RandomChange["before"]): object {
  const items = changes.flatMap((change, at) => {
    const { policies, pools } = demandOf(`r${at}`, of(change));
    const [pool = poolOf(`r${at}`)] = pools;
    return [...policies, { ...pool, spec: { ...pool.spec, maxUnavailable: "100%" } }];
  });
  return { apiVersion: "v1", kind: "List", items };
}

/** Some pods of each kind on each node. Resolves with their names by node. */
async function addPods(): Promise<Map<string, readonly string[]>> {
  const kinds = [
    { suffix: "plain", requests: {} },
    { suffix: "fast", requests: { "openshift.io/fast": "1" } },
    { suffix: "afxdp", requests: { "afxdp/fast": "1" } },
    { suffix: "other", requests: { "example.com/fast": "1" } },
  ];
  const placed = names.map((node, at) => {
    const chosen = kinds.filter((_kind, bit) => ((at + 1) & (1 << bit)) !== 0);
    return { node, chosen };
  });
  for (const { node, chosen } of placed) {
    for (const { suffix, requests } of chosen) await cluster.addPod(`${node}-${suffix}`, { node, requests });
  }
  return new Map(placed.map(({ node, chosen }) => [node, chosen.map(({ suffix }) => `${node}-${suffix}`)]));
}

/** Adds two pods with VFs of each PF to `pods`, on nodes whose daemons know them, and waits until the daemons have reported them. */
async function giveVfs(pods: Map<string, readonly string[]>): Promise<void> {
  const expected = new Map<string, number>();
  for (const [node, kubelet] of kubelets) {
    const pfs = cluster.states.get(node)?.status?.interfaces ?? [];
    const vfs = pfs.flatMap(({ Vfs = [] }) => Vfs.slice(0, 2).map(({ pciAddress }) => pciAddress));
    for (const [at, vf] of vfs.entries()) {
      const name = `${node}-vf${at}`;
      await cluster.addPod(name, { node, requests: { "openshift.io/fast": "1" } });
      kubelet.give(vf, name);
      pods.set(node, [...(pods.get(node) ?? []), name]);
    }
    expected.set(node, vfs.length);
  }
  const reported = (node: string): number =>
    (cluster.states.get(node)?.status?.interfaces ?? []).flatMap(({ Vfs = [] }) => Vfs.filter(({ holder }) => holder))
      .length;
  await eventually("all holders are reported", () => [...expected].every(([node, count]) => reported(node) === count), {
    withinMs,
  });
}

/** The plan for the cluster as it is with the policies and pools that come next. */
async function planNext(): Promise<Plans> {
  const kinds = "nodes,pods,sriovnetworknodestates,sriovoperatorconfigs";
  const dump = await cluster.cluster.kubectl(["get", kinds, "-A", "-o", "json"]);
  return plan(["-f", "-"], `${dump}\n---\n${JSON.stringify(listOf((change) => change.after))}`);
}

async function plan(from: readonly string[], input?: string): Promise<Plans> {
  const main = join(findWorkspaceRoot(), "apps/cli/src/main.ts");
  const args = ["--disable-warning=ExperimentalWarning", main, "plan", ...from, "-o", "json"];
  const { stdout, stderr } = await runProgram(process.execPath, args, input === undefined ? {} : { input });
  if (stdout === "") throw new Error(`switchyard plan printed nothing: ${stderr}`);
  return JSON.parse(stdout) as Plans;
}

function say(line: string): void {
  process.stderr.write(`${line}\n`);
}
