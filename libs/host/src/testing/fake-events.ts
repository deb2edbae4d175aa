// SPDX-License-Identifier: Apache-2.0
/** Implements streams of events for the fake kernel. Each watcher has its own queue, as each netlink socket has. */
export interface FakeEvents<Event> {
  readonly port: { watch(signal: AbortSignal): AsyncIterable<Event> };
  emit(event: Event): void;
  /** Drops the events that watchers have not read, and sends each watcher the event `overrun`. */
  overrun(): void;
}

// The buffer of a netlink socket is limited, too.
const maxQueued = 1_000;

/** `overrun` replaces events if there are too many; it is not needed for events that are all the same. */
export function createFakeEvents<Event>(overrun?: Event): FakeEvents<Event> {
  const watchers = new Set<Watcher<Event>>();

  function tell(watcher: Watcher<Event>, event: Event) {
    const { queue } = watcher;
    if (queue.length < maxQueued) queue.push(event);
    else queue.splice(0, queue.length, overrun ?? event);
    watcher.wake();
  }

  function watch(signal: AbortSignal): AsyncIterable<Event> {
    const watcher: Watcher<Event> = { queue: [], wake: () => undefined };
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
        if (overrun !== undefined) tell(watcher, overrun);
      }
    },
  };
}

interface Watcher<Event> {
  readonly queue: Event[];
  wake: () => void;
}

async function* drain<Event>(watcher: Watcher<Event>, signal: AbortSignal, stop: () => void): AsyncGenerator<Event> {
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
