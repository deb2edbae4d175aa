// SPDX-License-Identifier: Apache-2.0
/**
 * giveHostsBack runs `config-daemon cleanup` in one pod on each of the given nodes, and reports each node as it ends. It starts
 * no pod on a node that is not ready: the pod would run at an unknown later time, when Switchyard may be installed again.
 *
 * Pods that succeed are deleted. Pods that fail stay until the command is repeated, which begins again with all nodes.
 */
import { nodes } from "@switchyard/api";
import { isKubeError, isRecord, type KubeObject } from "@switchyard/kube";
import { CommandError, readObject, type CommandDeps, type TimeLimit } from "../command.ts";
import { podName, readCleanup, type CleanupPodOptions } from "./cleanup-pod.ts";
import { createCleanupPod, deleteCleanupPod, listCleanupPods } from "./cleanup-pods.ts";

export interface HandbackDeps extends CommandDeps {
  /** Starts the time in which pods that have not started are deleted. */
  readonly startLastLimit: () => TimeLimit;
}

type Readiness = { readonly state: "ready" | "gone" } | { readonly state: "not ready"; readonly why: string };

const pollMs = 1_000;
/** How many nodes are cleaned up at once. */
const maxAtOnce = 20;
/** Rounds after which the nodes of pods that have not ended are looked at again. */
const recheckRounds = 10;

/**
 * Resolves with the nodes that exist and were not given back, each with its reason in the output. Rejects with KubeError if the
 * pods cannot be listed, and with the reason of the command's signal.
 */
export async function giveHostsBack(
  deps: HandbackDeps,
  nodes: readonly string[],
  options: CleanupPodOptions,
): Promise<readonly string[]> {
  const { print, fail, limit } = deps;
  /** Nodes without a pod. Those that cannot have one yet go to the end again. */
  const queue = [...nodes];
  /** Pods that have not ended, by node, with what was last printed about each. */
  const active = new Map<string, { readonly pod: KubeObject; said: string }>();
  /** Nodes that have to wait, with the reason. */
  const held = new Map<string, string>();
  const left: string[] = [];
  let givenBack = 0;

  const giveUp = (node: string, why: string): void => {
    left.push(node);
    fail(`node ${node}: ${why}`);
  };

  const hold = (node: string, why: string): void => {
    if (held.get(node) !== why) print(`node ${node}: ${why}`);
    held.set(node, why);
  };

  async function start(node: string): Promise<void> {
    const readiness = await readReadiness(deps, node);
    if (readiness.state === "gone") {
      held.delete(node);
      fail(`node ${node}: does not exist any more; its host was not given back`);
      return;
    }
    if (readiness.state === "not ready") {
      hold(node, `not ready (${readiness.why})`);
      queue.push(node);
      return;
    }
    const pod = await createCleanupPod(deps, node, options);
    if (pod !== undefined) {
      held.delete(node);
      active.set(node, { pod, said: "" });
      return;
    }
    hold(node, "the pod of an earlier run is being deleted");
    queue.push(node);
  }

  async function follow(node: string, known: { said: string }, pod: KubeObject | undefined): Promise<void> {
    const cleanup = pod === undefined ? undefined : readCleanup(pod);
    if (cleanup?.state === "waiting" || cleanup?.state === "running") {
      const says = cleanup.why === "" ? cleanup.state : `${cleanup.state}: ${cleanup.why}`;
      if (says !== known.said) print(`node ${node}: ${says}`);
      known.said = says;
      return;
    }
    active.delete(node);
    held.delete(node);
    if (pod === undefined || cleanup === undefined) {
      giveUp(node, `pod ${podName(node)} was deleted before it ended`);
    } else if (cleanup.state === "failed") {
      giveUp(node, `failed (${cleanup.why}); pod ${pod.metadata.name} stays`);
      for (const line of cleanup.log) fail(`  ${line}`);
    } else {
      givenBack++;
      print(`node ${node}: given back (${givenBack} of ${nodes.length})`);
      await deleteCleanupPod(deps, pod).catch((error: unknown) => {
        if (!isKubeError(error)) throw error;
        fail(`node ${node}: pod ${pod.metadata.name} is not deleted: ${error.message}`);
      });
    }
  }

  /** A node that became unreachable must not keep the others waiting. */
  async function recheck(node: string): Promise<void> {
    const readiness = await readReadiness(deps, node);
    if (readiness.state === "not ready") hold(node, `not ready (${readiness.why})`);
    else held.delete(node);
  }

  /** What the API server refuses for one node does not stop the others. */
  const unlessRefused = async (node: string, work: Promise<void>): Promise<void> => {
    try {
      await work;
    } catch (error) {
      if (!isKubeError(error)) throw error;
      giveUp(node, error.message);
    }
  };

  async function run(): Promise<void> {
    for (const pod of await listCleanupPods(deps, options.namespace)) await deleteCleanupPod(deps, pod);
    for (let round = 1; queue.length > 0 || active.size > 0; round++) {
      const pods = new Map((await listCleanupPods(deps, options.namespace)).map((pod) => [pod.metadata.uid, pod]));
      for (const [node, known] of active) await follow(node, known, pods.get(known.pod.metadata.uid));
      if (round % recheckRounds === 0) for (const node of active.keys()) await recheck(node);
      const working = [...active.keys()].filter((node) => !held.has(node)).length;
      for (const node of queue.splice(0, Math.max(0, maxAtOnce - working))) await unlessRefused(node, start(node));
      if (queue.length > 0 || active.size > 0) await limit.pause(pollMs, "hosts are not given back");
    }
  }

  /** Deletes pods that have not started: they could run after Switchyard was installed again. */
  async function end(): Promise<void> {
    using last = deps.startLastLimit();
    for (const [node, { pod, said }] of active) {
      const why = held.get(node) ?? said;
      if (said === "running") {
        giveUp(node, `not given back in time: ${why}; pod ${pod.metadata.name} continues`);
        continue;
      }
      giveUp(node, `not given back in time: ${why}`);
      await deleteCleanupPod({ ...deps, limit: last }, pod);
    }
    for (const node of queue) giveUp(node, `not given back in time: ${held.get(node) ?? "not started"}`);
  }

  try {
    await run();
  } catch (error) {
    if (!(error instanceof CommandError) || error.code !== "TIMED_OUT") throw error;
    fail(error.message);
    await end();
  }
  return left;
}

/** readReadiness reads whether a node exists and can run a pod now. Rejects with KubeError, or with CommandError TIMED_OUT. */
async function readReadiness(deps: Pick<CommandDeps, "transport" | "limit">, name: string): Promise<Readiness> {
  const node = await readObject(deps, nodes, { name });
  if (node === undefined) return { state: "gone" };
  const status = "status" in node && isRecord(node.status) ? node.status : {};
  const conditions: readonly unknown[] = Array.isArray(status["conditions"]) ? status["conditions"] : [];
  const ready = conditions.filter(isRecord).find(({ type }) => type === "Ready");
  if (ready?.["status"] === "True") return { state: "ready" };
  const reason = ready?.["reason"];
  return { state: "not ready", why: typeof reason === "string" ? reason : "it has not reported" };
}
