// SPDX-License-Identifier: Apache-2.0
/**
 * simulateCleanups plays the kubelets for the pods of `operator uninstall --give-hosts-back`: each pod ends as the test decides for
 * its node, and a deleted pod disappears.
 */
import { labels, pods as type } from "@switchyard/api";
import { isKubeError, objectPath, watchObjects, type KubeObject, type Transport } from "@switchyard/kube";

/** Statuses that the kubelet reports one after the other. The last one stays. */
export type StatusSequence = readonly object[];

export interface CleanupKubelets extends AsyncDisposable {
  /** Nodes of the pods that were started, in this order. */
  readonly started: readonly string[];
  /** The largest number of pods that had not ended at the same time. */
  readonly mostAtOnce: () => number;
}

interface Pod extends KubeObject {
  readonly spec: { readonly nodeName: string };
  readonly status?: { readonly phase?: string };
}

const statusOf = (phase: string, state: object) => ({ phase, containerStatuses: [containerStatus(state)] });
const containerStatus = (state: object) => ({
  name: "cleanup",
  image: "x",
  imageID: "x",
  ready: false,
  restartCount: 0,
  state,
});

export const runs: StatusSequence = [statusOf("Running", { running: { startedAt: "2026-01-01T00:00:00Z" } })];
export const succeeds: StatusSequence = [...runs, statusOf("Succeeded", { terminated: { exitCode: 0 } })];
/** As with FallbackToLogsOnError. */
export const fails = (log: string): StatusSequence => [
  ...runs,
  statusOf("Failed", { terminated: { exitCode: 1, ...(log !== "" && { message: log }) } }),
];
export const cannotPull: StatusSequence = [
  statusOf("Pending", { waiting: { reason: "ImagePullBackOff", message: "no such image" } }),
];

export function simulateCleanups(
  transport: Transport,
  namespace: string,
  courseOf: (node: string) => StatusSequence,
): CleanupKubelets {
  const end = new AbortController();
  const started: string[] = [];
  const seen = new Set<string>();
  let most = 0;
  const errors: unknown[] = [];
  const pods = watchObjects({
    transport,
    type,
    namespace,
    labelSelector: `${labels.cleanup}=host`,
    report: () => undefined,
    project: (pod: Pod) => pod,
  });

  async function live({ metadata, spec }: Pod): Promise<void> {
    const path = objectPath(type, metadata, "status");
    for (const status of courseOf(spec.nodeName)) {
      const contentType = "application/merge-patch+json";
      await transport.request({ method: "PATCH", path, body: { status }, contentType, signal: end.signal });
    }
  }

  const remove = ({ metadata }: Pod): Promise<unknown> => {
    const preconditions = { uid: metadata.uid };
    const body = { apiVersion: "v1", kind: "DeleteOptions", gracePeriodSeconds: 0, preconditions };
    return transport.request({ method: "DELETE", path: objectPath(type, metadata), body, signal: end.signal });
  };

  async function settle(pod: Pod): Promise<void> {
    const { uid = "", deletionTimestamp } = pod.metadata;
    try {
      if (deletionTimestamp !== undefined) await remove(pod);
      else if (!seen.has(uid)) {
        seen.add(uid);
        started.push(pod.spec.nodeName);
        await live(pod);
      }
    } catch (error) {
      if (!end.signal.aborted && !isKubeError(error, "NotFound", "Conflict")) errors.push(error);
    }
  }

  pods.subscribe(({ after }) => {
    const unfinished = pods.list().filter(({ status }) => !["Succeeded", "Failed"].includes(status?.phase ?? ""));
    most = Math.max(most, unfinished.length);
    if (after !== undefined) void settle(after);
  });

  return {
    started,
    mostAtOnce: () => most,
    async [Symbol.asyncDispose]() {
      end.abort();
      await pods[Symbol.asyncDispose]();
      if (errors.length > 0) throw new AggregateError(errors, "the stand-in for the kubelets failed");
    },
  };
}
