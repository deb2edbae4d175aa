// SPDX-License-Identifier: Apache-2.0
/**
 * watchArrivals watches the node states of all namespaces and records their arrivals, in place of the nodes' daemons.
 * Usage: `await using watch = await watchArrivals(client, arrivals, fail)`
 */
import { defined } from "@switchyard/api";
import type { ResourceType } from "@switchyard/kube";
import { BenchError } from "../harness/bench-error.ts";
import type { PlainClient } from "../harness/plain-client.ts";
import type { Arrivals, SeenObject } from "./arrivals.ts";
import { watchStates, type Metadata, type StatesWatch } from "./watch-states.ts";

/** Watches from now on until it is disposed. Calls `fail` if the watch fails. */
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
