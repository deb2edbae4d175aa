// SPDX-License-Identifier: Apache-2.0
/**
 * createKernelSource makes a controller reconcile when the kernel reports a change of the NICs or of the bridges of PFs. It
 * ignores other virtual interfaces, which containers create and remove by the hundred, and what the pass that runs still
 * observes: most events of a pass are the echo of its own steps.
 */
import { isPfBridgeName, type KernelEvent, type Ovs } from "@switchyard/host";
import { systemClock, type Clock, type Source } from "@switchyard/kube";
import type { KernelFeed } from "./kernel-feed.ts";

/** A source that knows when the host is observed. */
export interface KernelSource extends Source {
  /** To be called when an observation begins. It sees the changes of all events so far. */
  readonly observing: () => void;
  /** Runs a pass. Events during it add the key when it ends, unless an observation began after them. */
  during<Outcome>(pass: () => Promise<Outcome>): Promise<Outcome>;
}

export interface KernelSourceOptions {
  readonly clock?: Clock;
  /** Reports whether an event can concern the devices of the pass; PFs and their bridges by default. */
  readonly concerns?: (event: KernelEvent) => boolean;
}

/**
 * A change of VFs causes events for seconds after its pass: names given by udev, carriers. A pass waits for this time without
 * events, and for the longer time at most.
 */
const quietMs = 100;
const longestWaitMs = 400;

/** Adds `key` after events that can concern NICs. */
export function createKernelSource(
  feed: KernelFeed,
  key: string,
  { clock = systemClock, concerns = concernsNics }: KernelSourceOptions = {},
): KernelSource {
  let enqueueKey = (): void => undefined;
  let firstMs: number | undefined;
  let cancel = (): void => undefined;
  let isPassRunning = false;
  let isUnseen = false;

  function addSoon(): void {
    const nowMs = clock.nowMs();
    firstMs ??= nowMs;
    cancel();
    cancel = clock.after(Math.max(0, Math.min(quietMs, firstMs + longestWaitMs - nowMs)), () => {
      firstMs = undefined;
      enqueueKey();
    });
  }

  function onEvent(event: KernelEvent): void {
    if (!concerns(event)) return;
    if (isPassRunning) isUnseen = true;
    else addSoon();
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
        if (isUnseen) addSoon();
        isUnseen = false;
      }
    },
    start(enqueue) {
      enqueueKey = () => {
        enqueue(key);
      };
      const stop = feed.subscribe(onEvent);
      return () => {
        stop();
        cancel();
      };
    },
    whenSynced: () => Promise.resolve(),
  };
}

/** Buses of NICs. The device of a virtio NIC on the PCI bus has a virtio device of its own. */
const nicBuses: ReadonlySet<string> = new Set(["pci", "virtio"]);

function concernsNics(event: KernelEvent): boolean {
  if (event.kind !== "link" || isPfBridgeName(event.name)) return true;
  return event.parent !== undefined && nicBuses.has(event.parent.bus);
}

/**
 * ovsSource makes a controller reconcile when the bridges of Switchyard, or the connection to Open vSwitch, change. `concerns` reports
 * whether the key depends on them; it does by default.
 */
export function ovsSource(ovs: Ovs, key: string, concerns = (): boolean => true): Source {
  return {
    start(enqueue) {
      const stop = new AbortController();
      const follow = async (): Promise<void> => {
        for await (const _event of ovs.watch(stop.signal)) if (concerns()) enqueue(key);
      };
      void follow().catch(() => undefined); // it never ends by itself; a fake kernel in another process can
      return () => {
        stop.abort();
      };
    },
    whenSynced: () => Promise.resolve(),
  };
}
