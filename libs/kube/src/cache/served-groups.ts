// SPDX-License-Identifier: Apache-2.0
/**
 * createServedGroups lets all reflectors of kinds that the API server does not serve wait with one request: GET /apis, which every
 * authenticated client may send. It names the API groups with their versions, in about 10 kB. Without it, each reflector lists its
 * kind every 5 s, and gets 404.
 * Usage: `watchObjects({ transport, type, optional: true, groups: createServedGroups(transport), project, report })`.
 */
import { sleep, systemClock, type Clock } from "../clock.ts";
import { apiVersionOf, isRecord, type ResourceType } from "../kube-object.ts";
import type { Transport } from "../http/transport.ts";

export interface ServedGroups {
  /**
   * Resolves when the API server serves the group and version of the kind, or when that cannot be known. The kind itself can still be
   * missing. Calls `onAbsent` each time that the server has confirmed that they are missing. Rejects with the signal's reason.
   */
  whenServed(type: ResourceType, signal: AbortSignal, onAbsent: () => void): Promise<void>;
}

export function createServedGroups(transport: Pick<Transport, "request">, clock: Clock = systemClock): ServedGroups {
  let last: { readonly atMs: number; readonly groups: Promise<ReadonlySet<string> | undefined> } | undefined;

  /** Returns the groups with their versions, as "apps/v1"; undefined if the API server does not name them. */
  async function ask(): Promise<ReadonlySet<string> | undefined> {
    try {
      return groupsIn(await transport.request({ method: "GET", path: "/apis" }));
    } catch {
      return undefined; // the list of the kind reports what is wrong
    }
  }

  function current(): Promise<ReadonlySet<string> | undefined> {
    const nowMs = clock.nowMs();
    if (last === undefined || nowMs - last.atMs >= shareMs) last = { atMs: nowMs, groups: ask() };
    return last.groups;
  }

  return {
    async whenServed(type, signal, onAbsent) {
      for (;;) {
        signal.throwIfAborted();
        const groups = await current();
        if (type.group === "" || groups === undefined || groups.has(apiVersionOf(type))) return;
        onAbsent();
        await sleep(clock, pollMs, signal);
      }
    },
  };
}

/** How often a group is looked for. */
const pollMs = 5_000;

/** An answer counts for all reflectors that ask within this time. */
const shareMs = pollMs / 2;

function groupsIn(body: unknown): ReadonlySet<string> | undefined {
  if (!isRecord(body) || !Array.isArray(body["groups"])) return undefined;
  const names = body["groups"].flatMap((group: unknown): readonly unknown[] => {
    const versions: unknown = isRecord(group) ? group["versions"] : undefined;
    return Array.isArray(versions) ? versions : [];
  });
  return new Set(
    names.flatMap((version: unknown) => {
      const name: unknown = isRecord(version) ? version["groupVersion"] : undefined;
      return typeof name === "string" ? [name] : [];
    }),
  );
}
