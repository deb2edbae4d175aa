// SPDX-License-Identifier: Apache-2.0
/**
 * createRecentUses keeps what the host used a device for until it has not used it for a minute. NetworkManager or a switch program
 * that restarts takes the default route, the bond or the XDP program away for some seconds; in these a device of the host would be
 * given to pods.
 */
import type { AfxdpInterfaceStatus } from "@switchyard/api";
import { deviceIdOf, isAway } from "@switchyard/plan";

export interface RecentUses {
  /** Returns the devices with their recent uses. `before`: as reported before, also by an earlier process. */
  keep(
    found: readonly AfxdpInterfaceStatus[],
    before: readonly AfxdpInterfaceStatus[] | undefined,
  ): readonly AfxdpInterfaceStatus[];
  /** Returns the time until the next use ends, in milliseconds; undefined if none is about to end. */
  nextEndMs(): number | undefined;
}

/** Time for which the host must not have used a device. A restart of NetworkManager takes some seconds. */
export const unusedMs = 60_000;

/** A device that vanishes before its time is over causes no busy loop. */
const minimumMs = 1_000;

/** What is added to a use that has ended. */
const ended = " until less than a minute ago";

interface Use {
  readonly uses: readonly string[];
  /** When the device was first seen without the use; undefined while the host uses it. Passes can be minutes apart. */
  readonly endedMs: number | undefined;
}

/** `nowMs` is a monotonic clock. */
export function createRecentUses(nowMs: () => number): RecentUses {
  const byDevice = new Map<string, Use>();
  const known = new Set<string>();

  function withRecent(device: AfxdpInterfaceStatus, before: AfxdpInterfaceStatus | undefined): AfxdpInterfaceStatus {
    const id = deviceIdOf(device);
    const { usedBy = [] } = device;
    if (usedBy.length > 0) {
      byDevice.set(id, { uses: usedBy, endedMs: undefined });
      return device;
    }
    // An earlier process may have seen the use last.
    const uses = byDevice.get(id)?.uses ?? (known.has(id) ? [] : (before?.usedBy ?? []).map(withoutEnd));
    const endedMs = byDevice.get(id)?.endedMs ?? nowMs();
    if (uses.length === 0 || isAway(device) || nowMs() - endedMs >= unusedMs) {
      byDevice.delete(id);
      return device;
    }
    byDevice.set(id, { uses, endedMs });
    return { ...device, usedBy: uses.map((use) => `${use}${ended}`) };
  }

  return {
    keep(found, before = []) {
      const earlier = new Map(before.map((device) => [deviceIdOf(device), device]));
      const kept = found.map((device) => withRecent(device, earlier.get(deviceIdOf(device))));
      for (const device of found) known.add(deviceIdOf(device));
      for (const [id, { endedMs }] of byDevice) {
        if (endedMs !== undefined && nowMs() - endedMs >= unusedMs) byDevice.delete(id); // of devices that vanished
      }
      return kept;
    },
    nextEndMs() {
      const ends = [...byDevice.values()].flatMap(({ endedMs }) => endedMs ?? []);
      return ends.length === 0 ? undefined : Math.max(Math.min(...ends) + unusedMs - nowMs(), minimumMs);
    },
  };
}

function withoutEnd(use: string): string {
  return use.endsWith(ended) ? use.slice(0, -ended.length) : use;
}
