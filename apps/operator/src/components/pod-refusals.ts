// SPDX-License-Identifier: Apache-2.0
/**
 * createPodRefusals finds out why the pods of a DaemonSet are not created: a LimitRange, a ResourceQuota or an admission webhook
 * refuses them. Only the events of the DaemonSet say that, with the reason FailedCreate. They are read when a rollout has been pending
 * for five minutes, and then once a minute.
 */
import { isKubeError, isRecord, listPages, type KubeObject, type ResourceType, type Transport } from "@switchyard/kube";

export interface PodRefusals {
  /** Sentences about DaemonSets whose pods are refused. */
  readonly sentences: readonly string[];
  /** Time until this must be asked again; undefined if no rollout is pending. */
  readonly afterMs: number | undefined;
}

/** Must be called with the names of all DaemonSets that lack pods, at each pass. Rejects with KubeError. */
export type FindPodRefusals = (pending: readonly string[], signal: AbortSignal) => Promise<PodRefusals>;

export interface PodRefusalsDeps {
  readonly transport: Transport;
  readonly namespace: string;
  /** A clock that nobody sets. */
  readonly nowMs: () => number;
}

interface Pending {
  readonly sinceMs: number;
  readonly askedMs?: number | undefined;
  readonly sentence?: string | undefined;
}

export function createPodRefusals({ transport, namespace, nowMs: elapsedMs }: PodRefusalsDeps): FindPodRefusals {
  const byName = new Map<string, Pending>();

  async function ask(name: string, signal: AbortSignal): Promise<string | undefined> {
    const fieldSelector = `regarding.kind=DaemonSet,regarding.name=${name},reason=FailedCreate`;
    const found: KubeObject[] = [];
    try {
      for await (const { items } of listPages(transport, {
        type: events,
        namespace,
        fieldSelector,
        pageSize,
        signal,
      })) {
        found.push(...items);
      }
    } catch (error) {
      if (isKubeError(error, "Forbidden")) return undefined; // the roles of an older release
      throw error;
    }
    const newest = found.toSorted((a, b) => timeOf(b) - timeOf(a))[0];
    const note = newest !== undefined && "note" in newest ? newest.note : undefined;
    return typeof note === "string" ? `${name}: its pods are refused: ${note}` : undefined;
  }

  return async function findPodRefusals(pending, signal) {
    const nowMs = elapsedMs();
    for (const name of byName.keys()) if (!pending.includes(name)) byName.delete(name);
    for (const name of pending) {
      const known = byName.get(name) ?? { sinceMs: nowMs };
      const isDue = nowMs - known.sinceMs >= patienceMs && nowMs - (known.askedMs ?? -Infinity) >= recheckMs;
      byName.set(name, isDue ? { ...known, askedMs: nowMs, sentence: await ask(name, signal) } : known);
    }
    const sentences = [...byName.values()].flatMap(({ sentence }) => sentence ?? []);
    return { sentences, afterMs: byName.size === 0 ? undefined : recheckMs };
  };
}

/** Time of the newest occurrence. */
function timeOf(event: KubeObject): number {
  const fields: Readonly<Record<string, unknown>> = { ...event };
  const series = isRecord(fields["series"]) ? fields["series"]["lastObservedTime"] : undefined;
  const texts = [series, fields["deprecatedLastTimestamp"], fields["eventTime"], event.metadata.creationTimestamp];
  const times = texts.map((text) => (typeof text === "string" ? Date.parse(text) : NaN));
  return times.find((time) => !Number.isNaN(time)) ?? 0;
}

const events: ResourceType = {
  group: "events.k8s.io",
  version: "v1",
  kind: "Event",
  plural: "events",
  namespaced: true,
};
const patienceMs = 5 * 60_000;
const recheckMs = 60_000;
const pageSize = 50;
