// SPDX-License-Identifier: Apache-2.0
/**
 * DrainHandshake takes the operator's steps of the drain handshake for one node at a time. It asks the API server
 * before a step changes the Node: the cache of a new leader may lag behind, and acting on an old answer would break the
 * current drain.
 */
import { defined } from "@switchyard/api";
import type { Requeue } from "@switchyard/kube";
import { recheckSoon } from "../controller-pace.ts";
import type { DrainAnswers, Swap } from "./drain-answers.ts";
import type { DrainCarrier, DrainCarriers } from "./drain-carriers.ts";

export interface DrainHandshake {
  /**
   * Reports whether the handshake stands as the cache shows it. Asks the API server once for each step. Rejects with
   * KubeError.
   */
  isCurrent(state: DrainCarrier, signal: AbortSignal): Promise<boolean>;
  /**
   * Writes the answer to the request that `state` shows. With `vfs`, it is an answer for these VFs only. Requeues if request or answer have changed; otherwise the
   * watch event of the write brings the node back. Rejects with KubeError.
   */
  answer(
    state: DrainCarrier,
    step: Swap & { readonly vfs?: string | undefined },
    signal: AbortSignal,
  ): Promise<Requeue | undefined>;
  /** Sets annotations to "Idle", and requeues like answer(). Rejects with KubeError. */
  makeIdle(annotationKeys: readonly string[], state: DrainCarrier, signal: AbortSignal): Promise<Requeue | undefined>;
  /** Drops what is remembered of a node that is gone. */
  forget(name: string): void;
}

export interface DrainHandshakeDeps {
  readonly answers: Pick<DrainAnswers, "swap" | "makeIdle" | "read">;
  readonly states: Pick<DrainCarriers, "observed">;
  /** Namespace of the states. */
  readonly namespace: string;
}

export function createDrainHandshake({ answers, states, namespace }: DrainHandshakeDeps): DrainHandshake {
  /** The step of each node's handshake that the API server confirmed last. */
  const confirmed = new Map<string, string>();

  return {
    async isCurrent({ type, name, uid, drain: { desired, current } }, signal) {
      const step = JSON.stringify([uid, desired, current]);
      if (confirmed.get(name) === step) return true;
      const now = await answers.read({ type, name, uid }, signal);
      const isSame = now?.desired === desired && now?.current === current;
      if (isSame) confirmed.set(name, step);
      return isSame;
    },

    async answer({ type, name, uid, drain: { desired } }, { vfs, ...step }, signal) {
      const version = await answers.swap({ type, name, uid, ...defined({ desired, vfs }) }, step, signal);
      return version === undefined ? recheckSoon : undefined;
    },

    async makeIdle(annotationKeys, { type, name }, signal) {
      const seen = states.observed({ name, namespace });
      // If it was not written, no event may follow: the change that caused the conflict need not concern drains.
      return seen && !(await answers.makeIdle(annotationKeys, { type, name, ...seen }, signal))
        ? recheckSoon
        : undefined;
    },

    forget(name) {
      confirmed.delete(name);
    },
  };
}
