// SPDX-License-Identifier: Apache-2.0
/**
 * watchLinks receives changes of network interfaces.
 * Usage: `watchLinks({ event, lost, failed }, signal)`.
 */
import { protocols } from "../libc.ts";
import { malformed } from "../netlink-error.ts";
import { linkMessages, parseLinkIdentity, type LinkIdentity } from "../rtnetlink/link-message.ts";
import { parseMessages } from "../wire/message.ts";
import { joinMulticast, type EventSink, type ListenOptions } from "./multicast.ts";

/** An interface that was added, changed or removed, with its new or last name. */
export interface LinkEvent {
  readonly link: LinkIdentity;
  readonly removed: boolean;
}

const linkGroup = 1 << 0; // RTNLGRP_LINK is group 1

/** `ip monitor link`, from this call until `signal` aborts. Throws NetlinkError. */
export function watchLinks(sink: EventSink<LinkEvent>, signal: AbortSignal, options: ListenOptions = {}): void {
  joinMulticast({ ...options, protocol: protocols.route, groups: linkGroup, decode: parseLinkEvents }, sink, signal);
}

function parseLinkEvents(datagram: Buffer): readonly LinkEvent[] {
  return parseMessages(datagram)
    .filter(({ type }) => type === linkMessages.newLink || type === linkMessages.delLink)
    .map(({ type, payload }) => ({ link: parseLinkIdentity(payload), removed: type === linkMessages.delLink }));
}

/** One uevent. */
export interface Uevent {
  /** "add", "remove", "change", "move", "bind", "unbind", "online", "offline". */
  readonly action: string;
  /** Path under /sys. */
  readonly devpath: string;
  /** "pci", "net"; "" if the message has none. */
  readonly subsystem: string;
  /** Returns a variable of the message: PCI_SLOT_NAME "0000:06:00.0", DRIVER "igb". */
  readonly variable: (name: string) => string | undefined;
}

/** Options of watchUevents. */
interface UeventOptions extends ListenOptions {
  /** Only events of these subsystems are parsed and delivered; all by default. A new interface alone has a dozen others. */
  readonly subsystems?: readonly string[];
}

const kernelGroup = 1 << 0;

/**
 * watchUevents receives uevents of the kernel, for devices that are added, removed, or bound to a driver (lib/kobject_uevent.c).
 * It does not receive the events of udev, group 2. `udevadm monitor --kernel`, from this call until `signal` aborts. Throws
 * NetlinkError.
 */
export function watchUevents(
  sink: EventSink<Uevent>,
  signal: AbortSignal,
  { subsystems, ...options }: UeventOptions = {},
): void {
  const lines = subsystems?.map((subsystem) => Buffer.from(`\0SUBSYSTEM=${subsystem}\0`));
  const isWanted = (datagram: Buffer): boolean => lines?.some((line) => datagram.includes(line)) ?? true;
  const decode = (datagram: Buffer) => (isWanted(datagram) ? [parseUevent(datagram)] : []);
  joinMulticast({ ...options, protocol: protocols.kobjectUevent, groups: kernelGroup, decode }, sink, signal);
}

/** Parses "ACTION@DEVPATH" and KEY=VALUE lines that end with NUL. Throws NetlinkError "malformed". */
export function parseUevent(datagram: Buffer): Uevent {
  const message = datagram.toString("utf8");
  if (!message.slice(0, message.indexOf("\0")).includes("@")) throw malformed("uevent without header");
  // Most of the variables of a message are never read, so they are not split.
  const variable = (name: string): string | undefined => {
    const before = `\0${name}=`;
    const at = message.indexOf(before);
    return at === -1 ? undefined : message.slice(at + before.length).split("\0", 1)[0];
  };
  const action = variable("ACTION");
  const devpath = variable("DEVPATH");
  if (action === undefined || devpath === undefined) throw malformed("uevent without ACTION or DEVPATH");
  return { action, devpath, subsystem: variable("SUBSYSTEM") ?? "", variable };
}
