// SPDX-License-Identifier: Apache-2.0
/**
 * Implements KernelEvents for the fake kernel. Each watcher has its own queue, as each netlink socket has.
 * Usage: `const events = createFakeEvents(); events.emit({ kind: "link", name: "eth0" }); events.port.watch(signal)`.
 */
import type { KernelEvent, KernelEvents } from "../ports/kernel-events.ts";

export interface FakeEvents {
  readonly port: KernelEvents;
  emit(event: KernelEvent): void;
  /** Drops the events that watchers have not read, and sends each watcher an "overrun" event. */
  overrun(): void;
}

// The buffer of a netlink socket is limited, too.
const maxQueued = 1_000;

export function createFakeEvents(): FakeEvents {
  const watchers = new Set<Watcher>();

  function tell(watcher: Watcher, event: KernelEvent) {
    const { queue } = watcher;
    if (queue.length < maxQueued) queue.push(event);
    else queue.splice(0, queue.length, { kind: "overrun" });
    watcher.wake();
  }

  function watch(signal: AbortSignal): AsyncIterable<KernelEvent> {
    const watcher: Watcher = { queue: [], wake: () => undefined };
    if (!signal.aborted) watchers.add(watcher);
    signal.addEventListener(
      "abort",
      () => {
        watchers.delete(watcher);
        watcher.wake();
      },
      { once: true },
    );
    return drain(watcher, signal, () => watchers.delete(watcher));
  }

  return {
    port: { watch },
    emit: (event) => {
      for (const watcher of watchers) tell(watcher, event);
    },
    overrun: () => {
      for (const watcher of watchers) {
        watcher.queue.length = 0;
        tell(watcher, { kind: "overrun" });
      }
    },
  };
}

interface Watcher {
  readonly queue: KernelEvent[];
  wake: () => void;
}

async function* drain(watcher: Watcher, signal: AbortSignal, stop: () => void): AsyncGenerator<KernelEvent> {
  try {
    while (!signal.aborted) {
      const event = watcher.queue.shift();
      if (event !== undefined) yield event;
      else
        await new Promise<void>((resolve) => {
          watcher.wake = resolve;
        });
    }
  } finally {
    stop();
  }
}
