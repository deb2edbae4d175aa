// SPDX-License-Identifier: Apache-2.0
/**
 * createLockCondition writes the condition WaitingForLock to the NodeState: the daemon runs, but waits because another
 * process holds the lock of the node. It uses its own field manager, because the holder of the lock writes the rest of the
 * status.
 */
import {
  conditionTypes,
  sriovNetworkNodeStates,
  waitingForLockReasons,
  type SriovNetworkNodeState,
} from "@switchyard/api";
import { createWriter, isKubeError, setCondition, type Transport } from "@switchyard/kube";

export interface LockCondition {
  /** Writes the condition. `reason` is a sentence. Rejects with KubeError, NotFound if the node has no NodeState yet. */
  write(reason: string, signal: AbortSignal): Promise<void>;
  /** Removes the condition, if it exists. Rejects with KubeError. */
  clear(signal: AbortSignal): Promise<void>;
}

export interface LockConditionOptions {
  readonly transport: Transport;
  readonly nodeName: string;
  readonly namespace: string;
  readonly now: () => Date;
}

/** Must stay the same in all releases. */
const manager = "switchyard-config-daemon-lock";

export function createLockCondition({ transport, nodeName, namespace, now }: LockConditionOptions): LockCondition {
  const writer = createWriter<SriovNetworkNodeState>({ transport, type: sriovNetworkNodeStates, namespace, manager });
  const metadata = { name: nodeName };
  const since = now();
  return {
    async write(reason, signal) {
      const condition = {
        type: conditionTypes.waitingForLock,
        status: "True",
        reason: waitingForLockReasons.lockNotFree,
        message: `The config daemon of this node is waiting for the node's lock: ${reason}`,
      } as const;
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

/** Reports whether the status has the condition. The daemon that wrote it may no longer run. */
export function hasLockCondition({ status }: SriovNetworkNodeState): boolean {
  return (status?.conditions ?? []).some(({ type }) => type === conditionTypes.waitingForLock);
}
