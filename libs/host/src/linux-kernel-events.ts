// SPDX-License-Identifier: Apache-2.0
/**
 * KernelEvents over rtnetlink and uevents; each watch has two sockets of its own, and no thread.
 * Usage: `for await (const event of createLinuxKernelEvents().watch(signal)) ...`.
 */
import {
  EventQueue,
  NetlinkError,
  watchLinks,
  watchUevents,
  type EventSink,
  type LinkEvent,
  type ListenOptions,
  type Uevent,
} from "@switchyard/netlink";
import { refusal } from "./ask-kernel.ts";
import { attempts } from "./attempts.ts";
import type { HostError } from "./host-error.ts";
import type { KernelEvent, KernelEvents } from "./kernel-events.ts";

/** `options` are for tests. watch() throws HostError, and so does its reader where the kernel ends the events. */
export function createLinuxKernelEvents(options: ListenOptions = {}): KernelEvents {
  return {
    watch(signal) {
      const at = attempts.events.watch(signal);
      const queue = new EventQueue<KernelEvent>({ signal, keyOf, overrun });
      try {
        watchLinks(sinkTo(queue, at, toLinkEvent), queue.closed, options);
        watchUevents(sinkTo(queue, at, toPciEvent), queue.closed, options);
      } catch (error) {
        queue.close();
        throw error instanceof NetlinkError ? refusal(at, error) : error;
      }
      return queue;
    },
  };
}

const overrun: KernelEvent = { kind: "overrun" };

function sinkTo<Event>(
  queue: EventQueue<KernelEvent>,
  at: HostError["at"],
  translate: (event: Event) => KernelEvent | undefined,
): EventSink<Event> {
  return {
    event(event) {
      const translated = translate(event);
      if (translated !== undefined) queue.push(translated);
    },
    lost() {
      queue.push(overrun);
    },
    failed(error) {
      queue.fail(refusal(at, error));
    },
  };
}

/** Events that tell the same wait once. */
function keyOf(event: KernelEvent): string {
  if (event.kind === "link") return `link ${event.name}`;
  return event.kind === "pci" ? `pci ${event.action} ${event.pciAddress}` : event.kind;
}

function toLinkEvent({ link: { name, parent } }: LinkEvent): KernelEvent {
  return { kind: "link", name, ...(parent !== undefined && { parent }) };
}

function toPciEvent({ action, subsystem, variables }: Uevent): KernelEvent | undefined {
  const pciAddress = variables.get("PCI_SLOT_NAME");
  return subsystem === "pci" && pciAddress !== undefined ? { kind: "pci", action, pciAddress } : undefined;
}
