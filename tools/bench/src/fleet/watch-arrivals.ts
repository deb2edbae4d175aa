// SPDX-License-Identifier: Apache-2.0
/**
 * The simulated daemons' ears: one watch over all node states, metadata alone, noted as they come.
 * Usage: `await using watch = watchArrivals(client, arrivals); await watch.failed` rejects when it breaks off.
 */
import { sriovNetworkNodeStates } from "@switchyard/api";
import { collectionPath, isRecord } from "@switchyard/kube";
import { BenchError } from "../bench-error.ts";
import { metadataOnly, type PlainClient } from "../cluster/plain-client.ts";
import type { Arrivals, SeenObject } from "./arrivals.ts";

export interface ArrivalWatch extends AsyncDisposable {
  /** Rejects with BenchError `watch` if it breaks off: figures would be wrong from there on. */
  readonly failed: Promise<never>;
}

/** Watches from now on, whatever namespace. */
export function watchArrivals(client: PlainClient, arrivals: Arrivals): ArrivalWatch {
  const end = new AbortController();
  const { promise: failed, reject } = Promise.withResolvers<never>();
  failed.catch(() => undefined); // told to whoever waits
  const ended = follow(client, arrivals, end.signal).catch((cause: unknown) => {
    if (!end.signal.aborted)
      reject(new BenchError("watch", `the watch of node states broke off: ${String(cause)}`, cause));
  });
  return {
    failed,
    async [Symbol.asyncDispose]() {
      end.abort();
      await ended;
    },
  };
}

async function follow(client: PlainClient, arrivals: Arrivals, signal: AbortSignal): Promise<void> {
  const path = `${collectionPath(sriovNetworkNodeStates)}?watch=true&allowWatchBookmarks=true`;
  let position = "";
  // The server ends each watch after some time; without a position it begins with all objects that there are.
  while (!signal.aborted) {
    const from = position === "" ? "" : `&resourceVersion=${position}`;
    for await (const line of client.watch({ path: path + from, accept: metadataOnly }, signal)) {
      const event: unknown = JSON.parse(line);
      const { type, metadata } = readEvent(event);
      if (typeof metadata["resourceVersion"] === "string") position = metadata["resourceVersion"];
      if (type === "ADDED" || type === "MODIFIED") arrivals.saw(readObject(metadata), performance.now());
    }
  }
}

function readEvent(event: unknown): { readonly type: string; readonly metadata: Readonly<Record<string, unknown>> } {
  if (isRecord(event) && isRecord(event["object"]) && isRecord(event["object"]["metadata"])) {
    const { type, object } = event;
    if (typeof type === "string" && type !== "ERROR" && isRecord(object["metadata"])) {
      return { type, metadata: object["metadata"] };
    }
  }
  throw new BenchError("watch", `the watch of node states says ${JSON.stringify(event).slice(0, 300)}`);
}

function readObject({ namespace, name, generation }: Readonly<Record<string, unknown>>): SeenObject {
  if (typeof namespace === "string" && typeof name === "string" && typeof generation === "number") {
    return { namespace, name, generation };
  }
  throw new BenchError("watch", "the watch of node states tells of an object without a name or generation");
}
