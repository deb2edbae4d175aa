// SPDX-License-Identifier: Apache-2.0
/**
 * Arrivals records when each node's spec arrived, as a daemon that watches its node state sees it. It keeps two
 * numbers per object, so that the harness uses little memory. Pure: the caller passes the time.
 */
import { defined } from "@switchyard/api";
import type { ResourceType } from "@switchyard/kube";
import type { PlainClient } from "../harness/plain-client.ts";
import { BenchError } from "../harness/run-control.ts";
import { watchStates, type Metadata, type StatesWatch } from "./watch-states.ts";

/** The object of a watch event. */
export interface SeenObject {
  readonly namespace: string;
  readonly name: string;
  /** Changes with the spec only, not with metadata or status. */
  readonly generation: number;
}

/** The arrivals in a namespace since `begin`. Times are those passed to `saw`. */
export interface Arrived {
  /** Number of objects whose spec is new or changed. */
  readonly objects: number;
  /** Number of changes of a spec; more than `objects` if one was written more than once. */
  readonly changes: number;
  readonly firstMs: number;
  readonly lastMs: number;
}

export interface Arrivals {
  /** Forgets the arrivals, but not the generations. */
  begin(): void;
  saw(object: SeenObject, nowMs: number): void;
  /** Records that the object was deleted. Another object of the same name counts as new. */
  lost(object: Pick<SeenObject, "namespace" | "name">): void;
  /** The arrivals of a namespace; undefined before the first one. */
  of(namespace: string): Arrived | undefined;
}

export function createArrivals(): Arrivals {
  const generations = new Map<string, number>();
  const since = new Map<string, { names: Set<string>; changes: number; firstMs: number; lastMs: number }>();

  return {
    begin() {
      since.clear();
    },
    saw({ namespace, name, generation }, nowMs) {
      const key = `${namespace}/${name}`;
      if (generations.get(key) === generation) return;
      generations.set(key, generation);
      const arrived = since.get(namespace) ?? { names: new Set(), changes: 0, firstMs: nowMs, lastMs: nowMs };
      arrived.names.add(name);
      arrived.changes += 1;
      arrived.lastMs = nowMs;
      since.set(namespace, arrived);
    },
    lost({ namespace, name }) {
      generations.delete(`${namespace}/${name}`);
    },
    of(namespace) {
      const arrived = since.get(namespace);
      if (arrived === undefined) return undefined;
      const { names, changes, firstMs, lastMs } = arrived;
      return { objects: names.size, changes, firstMs, lastMs };
    },
  };
}

/**
 * watchArrivals watches the node states of all namespaces and records their arrivals, in place of the nodes' daemons.
 * Watches from now on until it is disposed. Calls `fail` if the watch fails.
 */
export function watchArrivals(
  client: PlainClient,
  arrivals: Arrivals,
  fail: StatesWatch["fail"],
  type?: ResourceType,
): Promise<AsyncDisposable> {
  return watchStates(client, {
    take(event, metadata) {
      if (event === "DELETED") arrivals.lost(readObject(metadata));
      else arrivals.saw(readObject(metadata), performance.now());
    },
    fail,
    ...defined({ type }),
  });
}

function readObject({ namespace, name, generation }: Metadata): SeenObject {
  if (typeof namespace === "string" && typeof name === "string" && typeof generation === "number") {
    return { namespace, name, generation };
  }
  throw new BenchError("watch", "the watch of node states returned an object without a name or generation");
}
