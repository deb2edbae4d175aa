// SPDX-License-Identifier: Apache-2.0
/**
 * The simulated daemons' ears: one watch over all node states, metadata alone, noted as they come.
 * Usage: `await using watch = await watchArrivals(client, arrivals, fail)`
 */
import { sriovNetworkNodeStates } from "@switchyard/api";
import { collectionPath, isRecord } from "@switchyard/kube";
import { BenchError } from "../bench-error.ts";
import { metadataOnly, type PlainClient } from "../cluster/plain-client.ts";
import type { Arrivals, SeenObject } from "./arrivals.ts";

/**
 * Watches from now on, whatever namespace, until it is disposed. `fail` is told if it breaks off: figures would be wrong
 * from there on.
 */
export async function watchArrivals(
  client: PlainClient,
  arrivals: Arrivals,
  fail: (error: BenchError) => void,
): Promise<AsyncDisposable> {
  const end = new AbortController();
  const first = await begin(client, undefined, end.signal);
  const ended = follow(client, arrivals, first, end.signal).catch((cause: unknown) => {
    if (!end.signal.aborted)
      fail(new BenchError("watch", `the watch of node states broke off: ${String(cause)}`, cause));
  });
  return {
    async [Symbol.asyncDispose]() {
      end.abort();
      await ended;
    },
  };
}

/** Without a position it begins with all objects that there are. */
function begin(client: PlainClient, position: string | undefined, signal: AbortSignal): Promise<AsyncIterable<string>> {
  const path = `${collectionPath(sriovNetworkNodeStates)}?watch=true&allowWatchBookmarks=true`;
  const from = position === undefined ? "" : `&resourceVersion=${position}`;
  return client.watch({ path: path + from, accept: metadataOnly }, signal);
}

async function follow(
  client: PlainClient,
  arrivals: Arrivals,
  first: AsyncIterable<string>,
  signal: AbortSignal,
): Promise<void> {
  let position: string | undefined;
  // The server ends each watch after some time.
  for (let lines = first; ; lines = await begin(client, position, signal)) {
    for await (const line of lines) {
      const event: unknown = JSON.parse(line);
      const { type, metadata } = readEvent(event);
      if (typeof metadata["resourceVersion"] === "string") position = metadata["resourceVersion"];
      if (type === "ADDED" || type === "MODIFIED") arrivals.saw(readObject(metadata), performance.now());
      if (type === "DELETED") arrivals.lost(readObject(metadata));
    }
    signal.throwIfAborted();
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
