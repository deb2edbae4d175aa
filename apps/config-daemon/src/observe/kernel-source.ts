// SPDX-License-Identifier: Apache-2.0
/**
 * createKernelSource makes a controller reconcile when the kernel reports a change of the NICs or of the bridges of PFs. It
 * ignores other virtual interfaces, which containers create and remove by the hundred, and what the pass that runs still
 * observes: most events of a pass are the echo of its own steps.
 * Usage: `const kernel = createKernelSource(host.events, nodeName, onEnd); await kernel.during(() => pass(kernel.observing));`
 */
import { isPfBridgeName, type KernelEvent, type KernelEvents } from "@switchyard/host";
import type { Source } from "@switchyard/kube";

/** A source that knows when the host is observed. */
export interface KernelSource extends Source {
  /** To be called when an observation begins. It sees the changes of all events so far. */
  readonly observing: () => void;
  /** Runs a pass. Events during it add the key when it ends, unless an observation began after them. */
  during<Outcome>(pass: () => Promise<Outcome>): Promise<Outcome>;
}

/** Adds `key` for each event that can concern NICs. Calls `onEnd` if the kernel ends the stream of events. */
export function createKernelSource(events: KernelEvents, key: string, onEnd: (error: unknown) => void): KernelSource {
  let add = (): void => undefined;
  let isPassRunning = false;
  let isUnseen = false;

  function onEvent(event: KernelEvent): void {
    if (!concernsNics(event)) return;
    if (isPassRunning) isUnseen = true;
    else add();
  }

  return {
    observing() {
      isUnseen = false;
    },
    async during(pass) {
      isPassRunning = true;
      try {
        return await pass();
      } finally {
        isPassRunning = false;
        if (isUnseen) add();
        isUnseen = false;
      }
    },
    start(enqueue) {
      const stop = new AbortController();
      add = () => {
        enqueue(key);
      };
      const follow = async (): Promise<void> => {
        for await (const event of events.watch(stop.signal)) onEvent(event);
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
