// SPDX-License-Identifier: Apache-2.0
import type { KernelEvents } from "@switchyard/host";
import { sleep, systemClock } from "@switchyard/kube";
import type { Logger } from "@switchyard/service";

export interface KernelWatchOptions {
  /** Called when a NIC, its driver or its carrier may have changed. */
  readonly changed: () => void;
  readonly log: Logger;
}

const retryMs = 5_000;

/**
 * watchKernel calls `changed` for events of the kernel about NICs, until the signal aborts. Virtual interfaces, which containers add and
 * remove, are left out. If the kernel ends the events, they are requested again after 5 s. Never rejects.
 */
export async function watchKernel(
  events: KernelEvents,
  { changed, log }: KernelWatchOptions,
  signal: AbortSignal,
): Promise<void> {
  const isStopped = (): boolean => signal.aborted;
  while (!isStopped()) {
    try {
      for await (const event of events.watch(signal)) {
        if (event.kind === "rdma" || (event.kind === "link" && event.parent === undefined)) continue;
        changed();
      }
      if (isStopped()) return;
    } catch (error) {
      log.warn({ error }, "events of the kernel are not received; retrying");
    }
    await sleep(systemClock, retryMs, signal).catch(() => undefined);
    changed(); // what was missed
  }
}
