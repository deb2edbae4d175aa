// SPDX-License-Identifier: Apache-2.0
/**
 * createPoolsReconciler serves the pools of the present node state, and writes the pools in its status.
 *
 * Without a node state, and before the first report of the node, it serves the pools that it knows: unknown is not unwanted.
 */
import { defined, type AfxdpNetworkNodeState, type AfxdpPoolStatus } from "@switchyard/api";
import type { Reconcile, Writer } from "@switchyard/kube";
import { isErrno, type Logger } from "@switchyard/service";
import { nodePools } from "./pools/node-pools.ts";
import type { PoolServer } from "./serve-pools.ts";

export interface PoolsReconcilerDeps {
  readonly server: Pick<PoolServer, "pools" | "setPools" | "setPrograms" | "update">;
  /** Returns the node state from the cache. */
  readonly state: () => AfxdpNetworkNodeState | undefined;
  readonly writer: Pick<Writer<AfxdpNetworkNodeState>, "applyStatus">;
  readonly log: Logger;
}

/** Pods can end without any event on the host, and the kubelet can be away for a while. */
const retryMs = 5_000;
/** A device leaves and returns without an event of its own if the link events were lost. */
const resyncMs = 60_000;
const maxErrorCharacters = 1_000;

export function createPoolsReconciler({ server, state, writer, log }: PoolsReconcilerDeps): Reconcile {
  return async function reconcile(_key, signal) {
    const present = state();
    let recordProblem: string | undefined;
    let problems: ReadonlyMap<string, readonly string[]> = new Map();
    if (present?.spec !== undefined && present.status?.interfaces !== undefined) {
      const wanted = nodePools(present, server.pools());
      ({ problems } = wanted);
      server.setPrograms(present.status.programs ?? []);
      try {
        await server.setPools(wanted.pools);
      } catch (error) {
        if (!isErrno(error)) throw error; // of the record: a full disk
        log.warn({ error }, "pools not changed: their record cannot be written; retrying");
        recordProblem = `the pools of the node cannot be recorded, so that they stay what they were: ${error.message}`;
      }
    } else log.debug({}, "no node state or no report of the node; the known pools are served");

    const { pools, bpfman, isUnfinished } = await server.update(signal);
    if (present !== undefined) {
      const served = new Map(pools.map((pool) => [pool.name, pool]));
      const inSpec = recordProblem === undefined ? [] : (present.spec?.pools ?? []).map(({ name }) => name);
      const names = [...new Set([...served.keys(), ...problems.keys(), ...inSpec])].sort();
      const rows = names.map((name): AfxdpPoolStatus => {
        const { announced = 0, healthy: allocatable = 0, problems: found = [] } = served.get(name) ?? {};
        const all = [...(recordProblem === undefined ? [] : [recordProblem]), ...(problems.get(name) ?? []), ...found];
        const error = all.join("; ").slice(0, maxErrorCharacters);
        return { name, announced, allocatable, ...(error !== "" && { error }) };
      });
      const { name, namespace, uid } = present.metadata;
      // Without the uid, an apply would create the object again after its deletion.
      const metadata = { name, ...defined({ namespace }), ...(uid && { uid }) };
      await writer.applyStatus({ metadata, status: { pools: rows, ...defined({ bpfman }) } }, signal);
    }
    return { afterMs: isUnfinished || recordProblem !== undefined ? retryMs : resyncMs };
  };
}
