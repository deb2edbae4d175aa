// SPDX-License-Identifier: Apache-2.0
/**
 * The events of the fake kernel: each watcher has a queue of its own, as each netlink socket has.
 * Usage: `const events = createFakeEvents(); events.emit({ kind: "link", name: "eth0" }); events.port.watch(signal)`.
 */
import type { KernelEvent, KernelEvents } from "../ports/kernel-events.ts";

export interface FakeEvents {
  readonly port: KernelEvents;
  emit(event: KernelEvent): void;
  /** Forgets what no watcher has read yet, and tells each that it did. */
  overrun(): void;
}

// As a netlink socket's buffer holds so many messages and no more.
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
