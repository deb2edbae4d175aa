// SPDX-License-Identifier: Apache-2.0
/**
 * createLinuxKernelEvents implements KernelEvents over rtnetlink and uevents. Each watch uses two sockets and no thread.
 */
import { defined } from "@switchyard/api";
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
import { basename } from "node:path";
import { refusal } from "../system/ask-kernel.ts";
import { operations } from "../../calls/operations.ts";
import type { HostOperation } from "../../calls/host-error.ts";
import type { KernelEvent, KernelEvents } from "../../ports/kernel.ts";

/** `options` are for tests. watch() throws HostError; its iterator rejects with HostError if the kernel ends the events. */
export function createLinuxKernelEvents(options: ListenOptions = {}): KernelEvents {
  return {
    watch(signal) {
      const at = operations.events.watch(signal);
      const queue = new EventQueue<KernelEvent>({ signal, keyOf, overrun });
      try {
        watchLinks(sinkTo(queue, at, toLinkEvent), queue.closed, options);
        watchUevents(sinkTo(queue, at, toDeviceEvent), queue.closed, { ...options, subsystems: ["pci", "infiniband"] });
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
  at: HostOperation,
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

/** Of several waiting events with the same key, one is kept. */
function keyOf(event: KernelEvent): string {
  switch (event.kind) {
    case "link":
      return `link ${event.name}`;
    case "pci":
      return `pci ${event.action} ${event.pciAddress}`;
    case "rdma":
      return `rdma ${event.action} ${event.name}`;
    case "overrun":
      return event.kind;
  }
}

function toLinkEvent({ link: { name, parent } }: LinkEvent): KernelEvent {
  return { kind: "link", name, ...defined({ parent }) };
}

function toDeviceEvent({ action, devpath, subsystem, variable }: Uevent): KernelEvent | undefined {
  if (subsystem === "infiniband") return { kind: "rdma", action, name: basename(devpath) };
  const pciAddress = variable("PCI_SLOT_NAME");
  return subsystem === "pci" && pciAddress !== undefined ? { kind: "pci", action, pciAddress } : undefined;
}
