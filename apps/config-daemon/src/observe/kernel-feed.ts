// SPDX-License-Identifier: Apache-2.0
/**
 * createKernelFeed passes the events of the kernel to several listeners by one watch. Each watch has sockets of its own, on which each
 * event is read and parsed again.
 */
import type { KernelEvent, KernelEvents } from "@switchyard/host";

export interface KernelFeed {
  /** Calls `listener` with each event from now on. Returns a function that ends this. */
  subscribe(listener: KernelListener): () => void;
}

export type KernelListener = (event: KernelEvent) => void;

export interface KernelFeedOptions {
  /** Called if the kernel ends the stream of events. No more events arrive then. */
  readonly onEnd: (error: unknown) => void;
}

/** The watch begins with the first listener and ends with the last. */
export function createKernelFeed(events: KernelEvents, { onEnd }: KernelFeedOptions): KernelFeed {
  const listeners = new Set<KernelListener>();
  let watch: AbortController | undefined;

  async function follow(signal: AbortSignal): Promise<void> {
    try {
      for await (const event of events.watch(signal)) for (const listener of listeners) listener(event);
    } catch (error) {
      if (!signal.aborted) onEnd(error);
    }
  }

  return {
    subscribe(listener) {
      listeners.add(listener);
      if (watch === undefined) {
        watch = new AbortController();
        void follow(watch.signal);
      }
      return () => {
        listeners.delete(listener);
        if (listeners.size > 0) return;
        watch?.abort();
        watch = undefined;
      };
    },
  };
}
