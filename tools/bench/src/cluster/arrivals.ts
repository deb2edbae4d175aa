// SPDX-License-Identifier: Apache-2.0
/**
 * Arrivals records when each node's spec arrived, as a daemon that watches its node state sees it. It keeps two
 * numbers per object, so that the harness uses little memory. Pure: the caller passes the time.
 */
import { defined, sriovNetworkNodeStates } from "@switchyard/api";
import { collectionPath, isRecord, type ResourceType } from "@switchyard/kube";
import { BenchError } from "../harness/run.ts";
import { metadataOnly, type PlainClient } from "./plain-client.ts";

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

/** metadata of an object. */
export type Metadata = Readonly<Record<string, unknown>>;

interface StatesWatch {
  /** The kind; SriovNetworkNodeState by default. */
  readonly type?: ResourceType;
  /** The namespace; all namespaces by default. */
  readonly namespace?: string;
  /** Called with each event. The first events are of the existing objects. */
  readonly take: (type: "ADDED" | "MODIFIED" | "DELETED", metadata: Metadata) => void;
  /** Called if the watch fails, because the figures would be wrong. */
  readonly fail: (error: BenchError) => void;
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

/**
 * Watches the metadata of node states until it is disposed. Continues the watch after the API server ends it, which the server
 * does after some time, and at once for a client that reads too slowly. Rejects with BenchError if it cannot be started.
 */
export async function watchStates(client: Pick<PlainClient, "watch">, watch: StatesWatch): Promise<AsyncDisposable> {
  const end = new AbortController();
  const begin = (position: string | undefined): Promise<AsyncIterable<string>> => {
    const path = `${collectionPath(watch.type ?? sriovNetworkNodeStates, watch.namespace)}?watch=true&allowWatchBookmarks=true`;
    const from = position === undefined ? "" : `&resourceVersion=${position}`;
    return client.watch({ path: path + from, accept: metadataOnly }, end.signal);
  };

  async function follow(first: AsyncIterable<string>): Promise<void> {
    let position: string | undefined;
    for (let lines = first; ; lines = await begin(position)) {
      for await (const line of lines) {
        const { type, metadata } = readEvent(JSON.parse(line));
        if (typeof metadata["resourceVersion"] === "string") position = metadata["resourceVersion"];
        if (type === "ADDED" || type === "MODIFIED" || type === "DELETED") watch.take(type, metadata);
      }
      end.signal.throwIfAborted();
    }
  }

  const ended = follow(await begin(undefined)).catch((cause: unknown) => {
    if (end.signal.aborted) return;
    watch.fail(new BenchError("watch", `the watch of node states failed: ${String(cause)}`, cause));
  });
  return {
    async [Symbol.asyncDispose]() {
      end.abort();
      await ended;
    },
  };
}

function readEvent(event: unknown): { readonly type: string; readonly metadata: Metadata } {
  if (isRecord(event) && isRecord(event["object"]) && isRecord(event["object"]["metadata"])) {
    const { type, object } = event;
    if (typeof type === "string" && type !== "ERROR" && isRecord(object["metadata"])) {
      return { type, metadata: object["metadata"] };
    }
  }
  throw new BenchError("watch", `unexpected event in the watch of node states: ${JSON.stringify(event).slice(0, 300)}`);
}
