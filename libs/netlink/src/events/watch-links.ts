// SPDX-License-Identifier: Apache-2.0
/**
 * watchLinks receives changes of network interfaces.
 * Usage: `watchLinks({ event, lost, failed }, signal)`.
 */
import { protocols } from "../libc.ts";
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
