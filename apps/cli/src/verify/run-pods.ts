// SPDX-License-Identifier: Apache-2.0
/**
 * runPods creates the pods of one group of nodes, waits until they have said what they found, and removes them, whatever happens. First
 * come the pods that answer, then those that send, because the addresses of the former are known only when they run.
 */
import { sleep, type Clock } from "@switchyard/kube";
import { at, textAt } from "../json.ts";
import { parseObservations } from "./parse-observations.ts";
import type { PlannedPod } from "./plan-pods.ts";
import type { PodClient, PodName } from "./pod-client.ts";
import { interfaceOf, isSettled, readPodView, type PodView } from "./pod-view.ts";
import { interfaceName, renderPod, type Taint } from "./render-pod.ts";
import type { NetworkName, VerifyTarget } from "./verify-target.ts";

export interface RunOptions {
  readonly client: PodClient;
  readonly target: VerifyTarget;
  readonly pods: readonly PlannedPod[];
  /** Identity of the run: letters and digits. */
  readonly run: string;
  readonly image: string;
  readonly taintsOf: (node: string) => readonly Taint[];
  /** Time for the pods to start, and again for them to send. */
  readonly timeoutMs: number;
  readonly throughputSeconds: number;
  /** Ends the waiting. The pods are removed. */
  readonly signal: AbortSignal;
  readonly clock: Clock;
  /** Gets a note if pods cannot be removed. */
  readonly note: (text: string) => void;
}

const everyMs = 1000;
/** Time for the scheduler to change its mind, such as about devices that another pod has just returned. */
const unscheduledMs = 20_000;
/** Failed attempts of the kubelet to attach a pod after which no further one is awaited. */
const mostSandboxes = 5;
/** Least time to wait until the kubelet has removed the pods. */
const removalMs = 60_000;
const port = 47_500;
/** Time in which each pod sends several beacons. */
const listenSeconds = 3;

/** Rejects with the signal's reason, or with KubeError, after the pods were removed. */
export async function runPods(options: RunOptions): Promise<readonly PodView[]> {
  const { pods, signal } = options;
  const created: RunningPod[] = [];
  try {
    await createAll(
      pods.filter(({ role }) => role !== "sends"),
      { options, created, answering: [] },
    );
    const answering = await waitForAll(created, options);
    await createAll(
      pods.filter(({ role }) => role === "sends"),
      { options, created, answering },
    );
    const views = await waitForAll(created, options);
    signal.throwIfAborted();
    return views;
  } finally {
    await removeAll(created, options);
  }
}

/** Deletes pods of former runs that have ended: the kubelet ends those of a command that was killed. */
export async function removeEnded(client: PodClient, namespaces: readonly string[]): Promise<number> {
  let removed = 0;
  for (const namespace of namespaces) {
    for (const pod of await client.list(namespace)) {
      const phase = textAt(pod["status"], "phase");
      const name = textAt(pod["metadata"], "name");
      if (name === undefined || (phase !== "Succeeded" && phase !== "Failed")) continue;
      await client.delete({ namespace, name });
      removed++;
    }
  }
  return removed;
}

interface RunningPod extends PodName {
  readonly planned: PlannedPod;
  /** "namespace/name". */
  readonly network: string;
  readonly createdMs: number;
}

interface CreateContext {
  readonly options: RunOptions;
  readonly created: RunningPod[];
  readonly answering: readonly PodView[];
}

async function createAll(pods: readonly PlannedPod[], { options, created, answering }: CreateContext): Promise<void> {
  const { client, target, run, image, taintsOf, timeoutMs, throughputSeconds, signal, clock } = options;
  for (const planned of pods) {
    signal.throwIfAborted();
    const { node, role } = planned;
    const network = networkOf(role, target);
    const networkName = `${network.namespace}/${network.name}`;
    const name = `verify-${run}-${created.length}`;
    // Both waits, and the time to remove the pods of a command that still runs.
    const deadlineSeconds = Math.ceil((2 * timeoutMs + removalMs) / 1000);
    const targets = answering
      .filter((view) => view.role === "answers" && planned.targets.includes(view.node))
      .flatMap((view) => {
        const [address] = interfaceOf(view)?.found?.addresses ?? [];
        return address === undefined ? [] : [{ pod: view.name, address: address.replace(/\/.*/, "") }];
      });
    const pod = renderPod({
      name,
      namespace: network.namespace,
      node,
      taints: taintsOf(node),
      image,
      resource: target.resource,
      network,
      spec: {
        run,
        pod: name,
        network: networkName,
        interface: interfaceName,
        port,
        targets,
        deadlineSeconds,
        listenSeconds: role === "sends" ? listenSeconds : 0,
        throughputSeconds,
      },
      activeDeadlineSeconds: deadlineSeconds,
    });
    // Before the request: an interrupted one may have created the pod.
    created.push({ namespace: network.namespace, name, planned, network: networkName, createdMs: clock.nowMs() });
    await client.create(pod);
  }
}

function networkOf(role: PlannedPod["role"], { network, other }: VerifyTarget): NetworkName {
  return role === "other-network" && other !== undefined ? other.network : network;
}

/** Waits until all pods have said what they found, or cannot start, or the time is over. */
async function waitForAll(running: readonly RunningPod[], options: RunOptions): Promise<readonly PodView[]> {
  const { timeoutMs, signal, clock } = options;
  const untilMs = clock.nowMs() + timeoutMs;
  for (;;) {
    const views = await viewsOf(running, options);
    const isOver = clock.nowMs() >= untilMs;
    if (isOver || views.every((view, at) => isDecided(view, clock.nowMs() - (running[at]?.createdMs ?? 0))))
      return views;
    await sleep(clock, everyMs, signal);
  }
}

function isDecided(view: PodView, ageMs: number): boolean {
  if (isSettled(view)) return true;
  if (view.unscheduled !== undefined && ageMs > unscheduledMs) return true;
  return !view.hasStarted && (view.sandboxError?.count ?? 0) >= mostSandboxes;
}

async function viewsOf(running: readonly RunningPod[], { client, run }: RunOptions): Promise<readonly PodView[]> {
  const namespaces = [...new Set(running.map(({ namespace }) => namespace))];
  const lists = await Promise.all(namespaces.map((namespace) => client.list(namespace, run)));
  const found = new Map(lists.flat().map((pod) => [textAt(pod["metadata"], "name") ?? "", pod]));
  return Promise.all(
    running.map(async ({ planned, name, namespace, network }) => {
      const pod = found.get(name);
      const hasStarted = at(pod, "status", "startTime") !== undefined;
      const log = hasStarted ? await client.log({ namespace, name }) : "";
      const observations = parseObservations(log);
      const events = observations.length === 0 && hasStarted ? await client.events({ namespace, name }) : [];
      return readPodView({ planned, name, network, pod, events, observations });
    }),
  );
}

/** Deletes the pods and waits until they are gone, because only then their VFs are free. It does not stop for the signal. */
async function removeAll(running: readonly RunningPod[], options: RunOptions): Promise<void> {
  const { client, run, timeoutMs, clock, note } = options;
  const namespaces = [...new Set(running.map(({ namespace }) => namespace))];
  const untilMs = clock.nowMs() + Math.max(removalMs, timeoutMs);
  let left: readonly string[] = running.map(({ name }) => name);
  try {
    await Promise.all(running.map((pod) => client.delete(pod)));
    while (left.length > 0 && clock.nowMs() < untilMs) {
      const lists = await Promise.all(namespaces.map((namespace) => client.list(namespace, run)));
      left = lists.flat().flatMap((pod) => textAt(pod["metadata"], "name") ?? []);
      if (left.length > 0) await sleep(clock, everyMs, new AbortController().signal);
    }
  } finally {
    if (left.length > 0) note(`pods remain: ${left.join(", ")}; they end by themselves, and the next run deletes them`);
  }
}
