// SPDX-License-Identifier: Apache-2.0
/**
 * createHeldResets remembers which nodes keep configuration without policies (reset-hold.ts), and
 * createHeldResetsReconciler reports them: the condition ResetHeld on the SriovOperatorConfig, because the policies are gone,
 * and an event when it begins.
 */
import { operatorConfigName, type SriovOperatorConfig } from "@switchyard/api";
import type { Cache, EventToRecord, Reconcile, Source } from "@switchyard/kube";
import type { SetConfigCondition } from "../reports/config-condition.ts";
import type { ResetHold } from "./reset-hold.ts";

export interface HeldResets {
  /** Sets why the node keeps its configuration; undefined if it has all that policies give it. */
  set(node: string, hold: ResetHold | undefined): void;
  /** Sorted by name of the node. */
  list(): readonly (readonly [node: string, hold: ResetHold])[];
  /** The key "default", for each change. */
  readonly source: Source;
}

export function createHeldResets(): HeldResets {
  const held = new Map<string, ResetHold>();
  const listeners = new Set<() => void>();
  return {
    set(node, hold) {
      if (held.get(node)?.message === hold?.message) return;
      if (hold === undefined) held.delete(node);
      else held.set(node, hold);
      for (const listener of listeners) listener();
    },
    list: () => [...held].sort(([a], [b]) => (a < b ? -1 : 1)),
    source: {
      start(enqueue) {
        const listener = (): void => {
          enqueue(operatorConfigName);
        };
        listeners.add(listener);
        return () => {
          listeners.delete(listener);
        };
      },
      whenSynced: () => Promise.resolve(),
    },
  };
}

export interface HeldResetsDeps {
  readonly heldResets: Pick<HeldResets, "list">;
  readonly configs: Pick<Cache<SriovOperatorConfig>, "get">;
  readonly setCondition: SetConfigCondition;
  readonly record: (news: EventToRecord) => void;
}

/** Most nodes that a message names. */
const maxNamed = 3;

export function createHeldResetsReconciler({ heldResets, configs, setCondition, record }: HeldResetsDeps): Reconcile {
  let reported = "";
  return async function reconcile(name, signal) {
    const config = configs.get(name);
    if (config === undefined) return undefined;
    const held = heldResets.list();
    const [first] = held;
    if (first === undefined) {
      reported = "";
      await setCondition(config, undefined, signal);
      return undefined;
    }
    const [, { reason, message: cause }] = first;
    const names = held.slice(0, maxNamed).map(([node]) => node);
    const more = held.length > names.length ? ` and ${held.length - names.length} more` : "";
    const nodes = held.length === 1 ? `node ${names.join()} keeps its` : `nodes ${names.join(", ")}${more} keep their`;
    const message = `${nodes} configuration without policies: ${cause}`;
    await setCondition(config, { status: "True", reason, message }, signal);
    if (reported !== reason) record({ regarding: config, type: "Warning", reason, note: message });
    reported = reason;
    return undefined;
  };
}
