// SPDX-License-Identifier: Apache-2.0
/**
 * The kernel's events as a reason to look again. Containers come and go with virtual interfaces by the hundred: of
 * interfaces only those that belong to a PCI function count.
 */
import type { KernelEvent, KernelEvents } from "@switchyard/host";
import type { Source } from "@switchyard/kube";

/** Enqueues `key` for each event that may concern NICs. `onEnd` is told if the stream of events ends by an error. */
export function fromKernel(events: KernelEvents, key: string, onEnd: (error: unknown) => void): Source {
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
  return event.kind !== "link" || event.parent?.bus === "pci";
}
