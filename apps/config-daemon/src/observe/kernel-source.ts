// SPDX-License-Identifier: Apache-2.0
/**
 * kernelSource makes a controller reconcile when the kernel reports a change of the NICs or of the bridges of PFs. It ignores
 * other virtual interfaces, which containers create and remove by the hundred.
 */
import { isPfBridgeName, type KernelEvent, type KernelEvents } from "@switchyard/host";
import type { Source } from "@switchyard/kube";

/** Enqueues `key` for each event that can concern NICs. Calls `onEnd` if the kernel ends the stream of events. */
export function kernelSource(events: KernelEvents, key: string, onEnd: (error: unknown) => void): Source {
  return {
    start(enqueue) {
      const stop = new AbortController();
      const follow = async (): Promise<void> => {
        for await (const event of events.watch(stop.signal)) if (concernsNics(event)) enqueue(key);
      };
      follow().catch((error: unknown) => {
        if (!stop.signal.aborted) onEnd(error);
      });
      return () => {
        stop.abort();
      };
    },
    whenSynced: () => Promise.resolve(),
  };
}

function concernsNics(event: KernelEvent): boolean {
  return event.kind !== "link" || event.parent?.bus === "pci" || isPfBridgeName(event.name);
}
