// SPDX-License-Identifier: Apache-2.0
/**
 * writePlainStates lets the plain client write the same node states as the operator.
 * Usage: `await writePlainStates(client, { spec, nodes: 1000, connections: 32, signal })`
 */
import { sriovNetworkNodeStates, type SriovNetworkNodeStateSpec } from "@switchyard/api";
import { objectPath } from "@switchyard/kube";
import { inParallel, metadataOnly, type PlainClient } from "../harness/plain-client.ts";
import { nodeName, ownedStateWithSpec, plainNamespace } from "./fleet-objects.ts";

export interface PlainWriting {
  readonly spec: SriovNetworkNodeStateSpec;
  readonly nodes: number;
  /** The number of concurrent writes. */
  readonly connections: number;
  readonly signal?: AbortSignal;
}

/** Writes this spec to all of the plain client's node states. Rejects with BenchError `refused`. */
export async function writePlainStates(client: PlainClient, writing: PlainWriting): Promise<void> {
  const { spec, nodes, connections, signal } = writing;
  const indexes = Array.from({ length: nodes }, (_, index) => index);
  await inParallel(indexes, connections, (index) => {
    signal?.throwIfAborted();
    const path = objectPath(sriovNetworkNodeStates, { name: nodeName(index), namespace: plainNamespace });
    return applyPlainly(client, "plain", path, ownedStateWithSpec(plainNamespace, index, spec));
  });
}

/** Applies `body` by server-side apply. Rejects with BenchError `refused`. */
export function applyPlainly(client: PlainClient, manager: string, path: string, body: unknown): Promise<string> {
  return client.request({
    method: "PATCH",
    path: `${path}?fieldManager=${manager}&force=true`,
    contentType: "application/apply-patch+yaml",
    accept: metadataOnly,
    body,
  });
}
