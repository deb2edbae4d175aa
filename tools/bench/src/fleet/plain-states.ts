// SPDX-License-Identifier: Apache-2.0
/**
 * The plain client's writing of node states: what the operator writes, and nothing else.
 * Usage: `await writePlainStates(client, { spec, nodes: 1000, connections: 32, signal })`
 */
import { sriovNetworkNodeStates, type SriovNetworkNodeStateSpec } from "@switchyard/api";
import { objectPath } from "@switchyard/kube";
import { inParallel, metadataOnly, type PlainClient } from "../harness/plain-client.ts";
import { nodeName, ownedStateWithSpec, plainNamespace } from "./fleet-objects.ts";

export interface PlainWriting {
  readonly spec: SriovNetworkNodeStateSpec;
  readonly nodes: number;
  /** Writes under way at once. */
  readonly connections: number;
  readonly signal?: AbortSignal;
}

/** Gives all of its node states this spec. Rejects with BenchError `refused`. */
export async function writePlainStates(client: PlainClient, writing: PlainWriting): Promise<void> {
  const { spec, nodes, connections, signal } = writing;
  const indexes = Array.from({ length: nodes }, (_, index) => index);
  await inParallel(indexes, connections, (index) => {
    signal?.throwIfAborted();
    const path = objectPath(sriovNetworkNodeStates, { name: nodeName(index), namespace: plainNamespace });
    return applyPlainly(client, "plain", path, ownedStateWithSpec(plainNamespace, index, spec));
  });
}

/** Server-side apply of `body`. Rejects with BenchError `refused`. */
export function applyPlainly(client: PlainClient, manager: string, path: string, body: unknown): Promise<string> {
  return client.request({
    method: "PATCH",
    path: `${path}?fieldManager=${manager}&force=true`,
    contentType: "application/apply-patch+yaml",
    accept: metadataOnly,
    body,
  });
}
