// SPDX-License-Identifier: Apache-2.0
/**
 * watchStates watches the metadata of node states. It continues the watch after the API server ends it, which the
 * server does after some time, and at once for a client that reads too slowly.
 */
import { sriovNetworkNodeStates } from "@switchyard/api";
import { collectionPath, isRecord, type ResourceType } from "@switchyard/kube";
import { BenchError } from "../harness/run-control.ts";
import { metadataOnly, type PlainClient } from "../harness/plain-client.ts";

export type Metadata = Readonly<Record<string, unknown>>;

export interface StatesWatch {
  /** The kind; SriovNetworkNodeState by default. */
  readonly type?: ResourceType;
  /** The namespace; all namespaces by default. */
  readonly namespace?: string;
  /** Called with each event. The first events are of the existing objects. */
  readonly take: (type: "ADDED" | "MODIFIED" | "DELETED", metadata: Metadata) => void;
  /** Called if the watch fails, because the figures would be wrong. */
  readonly fail: (error: BenchError) => void;
}

/** Watches from now on until it is disposed. Rejects with BenchError if the watch cannot be started. */
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
