// SPDX-License-Identifier: Apache-2.0
/**
 * runPods plays the scheduler and the kubelets for the pods of a namespace, on nodes that are only API objects. Containers
 * of Switchyard's images are real processes with the pod's environment, arguments and service account; all other
 * containers only run and are ready.
 */
import { pods } from "@switchyard/api";
import { isKubeError, objectPath, watchObjects, type Transport } from "@switchyard/kube";
import type { ControlPlane } from "@switchyard/testing";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fieldAt } from "../api/plain-api.ts";
import { startContainer, type Container, type ContainerProcess, type Pod, type Program } from "./container-process.ts";
import type { PodNetwork } from "./pod-network.ts";

/** A program that plays another one. It runs in this process until the signal. */
export interface InProcess {
  run(pod: Pod, signal: AbortSignal): Promise<void>;
}

/** What a container of an image does: a program runs, in its own process or in this one; "stand-in" runs without one; "missing" cannot be pulled. */
export type ImageContent = Program | InProcess | "stand-in" | "missing";

export interface PodsOptions {
  readonly transport: Transport;
  readonly cluster: ControlPlane;
  readonly namespace: string;
  /** Directory for the logs. */
  readonly directory: string;
  readonly contentOf: (container: Container, pod: Pod) => ImageContent;
  /** Gives pods addresses at which the API server reaches them. Without it, pods have none. */
  readonly network?: PodNetwork;
}

/** A pod that was started, with its times as read from one clock. */
export interface PodRun {
  readonly pod: Pod;
  readonly startedMs: number;
  /** Undefined while it runs. */
  endedMs?: number;
  /** Exit statuses of its program, one for each time that it ended by itself. */
  readonly exits: number[];
}

/** The pods. Disposing ends all processes. */
export interface RunningPods extends AsyncDisposable {
  /** All pods that were started, in this order. */
  readonly runs: readonly PodRun[];
  /** Sets whether new pods get a node. Pods of DaemonSets always do. */
  schedule(isPossible: boolean): void;
  /** Kills the process of a pod with SIGKILL; it is not started again. */
  freeze(podName: string): Promise<void>;
  /** The output of a pod's program. */
  logOf(podName: string): Promise<string>;
}

/** The node of pods that no DaemonSet created. */
const defaultNode = "control-1";

/** Starts to run the pods of a namespace. */
export function runPods(options: PodsOptions): RunningPods {
  const { transport, cluster, namespace, directory, contentOf, network } = options;
  const end = new AbortController();
  const { signal } = end;
  const runs: PodRun[] = [];
  const active = new Map<string, ActivePod>();
  let isSchedulable = true;
  const errors: unknown[] = [];

  const cache = watchObjects({ transport, type: pods, namespace, report: () => undefined, project: (pod: Pod) => pod });
  const logFile = (name: string) => join(directory, `pod-${name}.log`);

  const tolerant = async (work: () => Promise<unknown>): Promise<void> => {
    try {
      await work();
    } catch (error) {
      if (!signal.aborted && !isKubeError(error, "NotFound", "Conflict", "Invalid")) errors.push(error);
    }
  };

  async function bind(pod: Pod): Promise<void> {
    const own = nodeOfDaemonSet(pod);
    if (own === undefined && !isSchedulable) return;
    const target = { apiVersion: "v1", kind: "Node", name: own ?? defaultNode };
    const body = { apiVersion: "v1", kind: "Binding", metadata: { name: pod.metadata.name }, target };
    await transport.request({ method: "POST", path: `${objectPath(pods, pod.metadata)}/binding`, body, signal });
  }

  async function patchStatus(pod: Pod, status: object): Promise<void> {
    const path = objectPath(pods, pod.metadata, "status");
    const contentType = "application/merge-patch+json";
    await transport.request({ method: "PATCH", path, contentType, body: { status }, signal });
  }

  async function remove(pod: Pod): Promise<void> {
    const body = { apiVersion: "v1", kind: "DeleteOptions", gracePeriodSeconds: 0 };
    await transport.request({ method: "DELETE", path: objectPath(pods, pod.metadata), body, signal });
  }

  function settle(pod: Pod): void {
    const { uid = "", name, deletionTimestamp } = pod.metadata;
    const running = active.get(uid);
    if (deletionTimestamp !== undefined) {
      if (running?.isStopping === true) return;
      void tolerant(async () => {
        await running?.stop();
        await remove(pod);
      });
    } else if (pod.spec.nodeName === undefined) void tolerant(() => bind(pod));
    else if (running === undefined && (pod.status?.phase ?? "Pending") === "Pending") {
      const started = runPod({ transport, cluster, contentOf, network, log: logFile(name), pod, signal, patchStatus });
      active.set(uid, started);
      runs.push(started.run);
      void tolerant(() => started.ended);
    }
  }

  cache.subscribe(({ before, after }) => {
    if (after !== undefined) settle(after);
    else if (before !== undefined) void tolerant(async () => active.get(before.metadata.uid ?? "")?.stop());
  });

  return {
    runs,
    schedule(isPossible) {
      isSchedulable = isPossible;
      for (const pod of cache.list()) settle(pod);
    },
    async freeze(podName) {
      await [...active.values()].find(({ run }) => run.pod.metadata.name === podName)?.freeze();
    },
    logOf: (podName) => readFile(logFile(podName), "utf8").catch(() => ""),
    async [Symbol.asyncDispose]() {
      end.abort();
      await cache[Symbol.asyncDispose]();
      await Promise.all([...active.values()].map((pod) => pod.kill()));
      if (errors.length > 0) throw new AggregateError(errors, "the stand-in for the kubelets failed");
    },
  };
}

interface ActivePod {
  readonly run: PodRun;
  readonly isStopping: boolean;
  readonly ended: Promise<void>;
  /** Ends the program by SIGTERM. */
  stop(): Promise<void>;
  freeze(): Promise<void>;
  kill(): Promise<void>;
}

interface PodStart extends Pick<PodsOptions, "transport" | "cluster" | "contentOf"> {
  readonly network: PodNetwork | undefined;
  readonly log: string;
  readonly pod: Pod;
  readonly signal: AbortSignal;
  readonly patchStatus: (pod: Pod, status: object) => Promise<void>;
}

/** A pod has one container with a program at most. */
function runPod({ transport, cluster, contentOf, network, log, pod, signal, patchStatus }: PodStart): ActivePod {
  const run: PodRun = { pod, startedMs: performance.now(), exits: [] };
  const { containers, restartPolicy = "Always" } = pod.spec;
  const contents = containers.map((container) => ({ container, content: contentOf(container, pod) }));
  const state = { isStopping: false, isFrozen: false };
  let current: ContainerProcess | undefined;
  const ending = new AbortController();
  const podIP = network?.newAddress();
  const addresses = podIP === undefined ? {} : { podIP, podIPs: [{ ip: podIP }] };
  const startTime = new Date().toISOString();

  const report = async (phase: string, isReady: boolean, container: (each: Container) => object): Promise<void> => {
    const ready = isReady ? "True" : "False";
    const conditions = ["PodScheduled", "Initialized", "ContainersReady", "Ready"].map((type) => {
      return { type, status: type === "PodScheduled" || type === "Initialized" ? "True" : ready };
    });
    const containerStatuses = containers.map((each) => ({
      name: each.name,
      image: each.image,
      imageID: each.image,
      ready: isReady,
      restartCount: run.exits.length,
      ...container(each),
    }));
    await patchStatus(pod, { phase, startTime, conditions, containerStatuses, ...addresses });
  };
  const running = () => ({ state: { running: { startedAt: startTime } } });
  const waiting = (reason: string, message: string) => () => ({ state: { waiting: { reason, message } } });
  const isOver = () => signal.aborted || state.isStopping;

  /** Runs the program once and returns its exit status. */
  async function runOnce(container: Container, program: Program): Promise<number> {
    const { server } = cluster;
    const start = { transport, server, pod, container, program, log };
    for (;;) {
      try {
        current = await startContainer(start);
        break;
      } catch (error) {
        if (isOver()) return 137;
        await report("Pending", false, waiting("CreateContainerConfigError", String(error)));
        await sleep(500, undefined, { signal });
      }
    }
    const started = current;
    if (podIP !== undefined) network?.open(podIP, started.ports);
    if (isOver()) await started.kill();
    let wasReady: boolean | undefined;
    while (!started.hasExited()) {
      const isReady = await started.isReady();
      if (isReady !== wasReady && !isOver()) await report("Running", isReady, running);
      wasReady = isReady;
      await Promise.race([started.exited, sleep(200)]);
    }
    return started.exited;
  }

  async function live(): Promise<void> {
    const missing = contents.find(({ content }) => content === "missing");
    if (missing !== undefined) {
      const message = `cannot pull ${missing.container.image}`;
      await report("Pending", false, waiting("ImagePullBackOff", message));
      return;
    }
    const real = contents.find(({ content }) => typeof content !== "string");
    if (real === undefined || typeof real.content === "string") {
      await report("Running", true, running);
      return;
    }
    const { content } = real;
    if ("run" in content) {
      await report("Running", true, running);
      await content.run(pod, AbortSignal.any([signal, ending.signal]));
      return;
    }
    while (!isOver()) {
      const exitCode = await runOnce(real.container, content);
      if (isOver() || state.isFrozen) return;
      run.exits.push(exitCode);
      const terminated = () => ({
        state: { terminated: { exitCode, reason: exitCode === 0 ? "Completed" : "Error" } },
      });
      if (restartPolicy === "Never" || (restartPolicy === "OnFailure" && exitCode === 0)) {
        run.endedMs = performance.now();
        await report(exitCode === 0 ? "Succeeded" : "Failed", false, terminated);
        return;
      }
      await report("Running", false, terminated);
      await sleep(1000, undefined, { signal });
    }
  }

  const ended = live();
  return {
    run,
    get isStopping() {
      return state.isStopping;
    },
    ended,
    async stop() {
      state.isStopping = true;
      ending.abort();
      current?.signal("TERM");
      const timer = setTimeout(() => void current?.kill(), 30_000);
      await current?.exited;
      clearTimeout(timer);
      if (podIP !== undefined) network?.close(podIP);
      if (contents.some(({ content }) => typeof content !== "string" && "run" in content)) {
        await ended.catch(() => undefined); // the caller of ended gets the error
      }
      run.endedMs ??= performance.now();
    },
    async freeze() {
      state.isFrozen = true;
      await current?.kill();
    },
    async kill() {
      state.isStopping = true;
      await current?.kill();
    },
  };
}

/** The node for which a DaemonSet created the pod. */
function nodeOfDaemonSet(pod: Pod): string | undefined {
  const required = ["nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms"] as const;
  const name = fieldAt(pod.spec.affinity, ...required, 0, "matchFields", 0, "values", 0);
  return typeof name === "string" ? name : undefined;
}
