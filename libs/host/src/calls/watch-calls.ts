// SPDX-License-Identifier: Apache-2.0
/**
 * Which calls of a host have not ended yet, since some never do: a write to sysfs that hangs in a driver, a read that waits
 * for it. Nothing can be done about such a call, but it can be named.
 * Usage: `const watched = watchCalls(host); void observe(watched.host); …; watched.oldest()`.
 */
import { attemptOf } from "./operation-of.ts";
import type { Host } from "../ports/host.ts";
import { wrapPorts, type PortCall } from "./wrap-ports.ts";

export interface WatchedCalls {
  /** The host, each call of which is watched. */
  readonly host: Host;
  /** The call that has been in hand for longest, in words: "set sriov_numvfs 4 on 0000:3b:00.0". */
  oldest(): string | undefined;
}

export function watchCalls(host: Host): WatchedCalls {
  /** In the order of their start. */
  const inHand = new Set<PortCall>();
  return {
    host: wrapPorts(host, (call, proceed) => (call.port === "events" ? proceed() : watched(call, proceed))),
    oldest() {
      const [call] = inHand;
      if (call === undefined) return undefined;
      const { tried, target } = attemptOf(call);
      return `${tried} on ${target}`;
    },
  };

  async function watched(call: PortCall, proceed: () => unknown): Promise<unknown> {
    inHand.add(call);
    try {
      return await proceed();
    } finally {
      inHand.delete(call);
    }
  }
}
