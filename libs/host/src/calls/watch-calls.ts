// SPDX-License-Identifier: Apache-2.0
/**
 * watchCalls keeps the calls of a host that have not ended. Some never end, such as a write to sysfs that hangs in a driver.
 * Nothing can end such a call, but the daemon can report it.
 * Usage: `const watched = watchCalls(host); void watched.host.sriov.listPfs(); const text = watched.oldest();`.
 */
import type { Host } from "../ports/host.ts";
import { operationOf } from "./operation-of.ts";
import { isWatch, wrapPorts, type PortCall } from "./wrap-ports.ts";

export interface WatchedCalls {
  /** Behaves as the given host. */
  readonly host: Host;
  /** Describes the oldest call that has not ended: "set sriov_numvfs 4 on 0000:3b:00.0"; undefined if all have ended. */
  oldest(): string | undefined;
}

export function watchCalls(host: Host): WatchedCalls {
  /** In the order of their start. */
  const running = new Set<PortCall>();
  return {
    host: wrapPorts(host, (call, proceed) => (isWatch(call) ? proceed() : watched(call, proceed))),
    oldest() {
      const [call] = running;
      if (call === undefined) return undefined;
      const { action, target } = operationOf(call);
      return `${action} on ${target}`;
    },
  };

  async function watched(call: PortCall, proceed: () => unknown): Promise<unknown> {
    running.add(call);
    try {
      return await proceed();
    } finally {
      running.delete(call);
    }
  }
}
