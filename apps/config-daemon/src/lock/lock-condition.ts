// SPDX-License-Identifier: Apache-2.0
/**
 * The condition WaitingForLock on the node's state: a daemon is there, and does nothing, since another process has the
 * node's lock. It has a field manager of its own: the daemon that has the lock writes all else of the status.
 * Usage: `const condition = createLockCondition({ transport, nodeName, namespace, now }); await condition.write(why, signal);`
 */
import {
  conditionTypes,
  sriovNetworkNodeStates,
  waitingForLockReasons,
  type SriovNetworkNodeState,
} from "@switchyard/api";
import { createWriter, isKubeError, setCondition, type Transport } from "@switchyard/kube";

export interface LockCondition {
  /** Rejects with KubeError, NotFound where the node has no state yet. */
  write(why: string, signal: AbortSignal): Promise<void>;
  /** Takes it back; no error where there is none. Rejects with KubeError. */
  clear(signal: AbortSignal): Promise<void>;
}

export interface LockConditionOptions {
  readonly transport: Transport;
  readonly nodeName: string;
  readonly namespace: string;
  readonly now: () => Date;
}

/** The same over all releases. */
const manager = "switchyard-config-daemon-lock";

export function createLockCondition({ transport, nodeName, namespace, now }: LockConditionOptions): LockCondition {
  const writer = createWriter<SriovNetworkNodeState>({ transport, type: sriovNetworkNodeStates, namespace, manager });
  const metadata = { name: nodeName };
  const since = now();
  return {
    async write(message, signal) {
      const condition = {
        ...({
          type: conditionTypes.waitingForLock,
          status: "True",
          reason: waitingForLockReasons.lockNotFree,
        } as const),
        message: `this node's config daemon does not begin: ${message}`,
      };
      await writer.applyStatus({ metadata, status: { conditions: setCondition([], condition, since) } }, signal);
    },
    async clear(signal) {
      try {
        await writer.applyStatus({ metadata, status: { conditions: [] } }, signal);
      } catch (error) {
        if (!isKubeError(error, "NotFound")) throw error;
      }
    },
  };
}

/** Whether a daemon said so, which may be dead. */
export function hasLockCondition({ status }: SriovNetworkNodeState): boolean {
  return (status?.conditions ?? []).some(({ type }) => type === conditionTypes.waitingForLock);
}
