// SPDX-License-Identifier: Apache-2.0
/**
 * createHeldResets remembers which nodes keep configuration without policies (reset-hold.ts), and
 * heldResetsController reports them: the condition ResetHeld on the SriovOperatorConfig or AfxdpOperatorConfig, because the
 * policies are gone, and an event when it begins.
 */
import { conditionTypes, operatorConfigName, type ResourceType } from "@switchyard/api";
import {
  createWriter,
  fromCache,
  type Cache,
  type EventToRecord,
  type KubeObject,
  type Reconcile,
  type Source,
} from "@switchyard/kube";
import { limitRate } from "../controller-pace.ts";
import { fieldManagers } from "../field-managers.ts";
import type { ControllerDefinition, OperatorContext } from "../operator-context.ts";
import { createConfigCondition, type ReportedConfig, type SetConfigCondition } from "../reports/config-condition.ts";
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

/** A SriovOperatorConfig or AfxdpOperatorConfig. */
type HoldingConfig = KubeObject & ReportedConfig;

/** Where resets of one kind of node states are reported. */
export interface HeldResetsOptions {
  /** Name of the controller. */
  readonly name: string;
  readonly heldResets: HeldResets;
  /** Kind of the config. */
  readonly type: ResourceType;
  readonly configs: Cache<HoldingConfig>;
}

export function heldResetsController(
  { transport, settings, events, now }: Pick<OperatorContext, "transport" | "settings" | "events" | "now">,
  { name, heldResets, type, configs }: HeldResetsOptions,
): ControllerDefinition {
  const writer = createWriter<HoldingConfig>({
    transport,
    namespace: settings.namespace,
    type,
    manager: fieldManagers.resetHeld,
    cache: configs,
  });
  return {
    name,
    reads: [configs],
    reconcile: limitRate(
      createHeldResetsReconciler({
        heldResets,
        configs,
        setCondition: createConfigCondition({ type: conditionTypes.resetHeld, writer, now }),
        record(news) {
          events.record(news);
        },
      }),
      { intervalMs: 1_000, nowMs: () => performance.now() },
    ),
    sources: [heldResets.source, fromCache(configs, ({ key }) => [key])],
  };
}

export interface HeldResetsDeps {
  readonly heldResets: Pick<HeldResets, "list">;
  readonly configs: Pick<Cache<HoldingConfig>, "get">;
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
    const [, { reason, message: cause, objects = "policies" }] = first;
    const names = held.slice(0, maxNamed).map(([node]) => node);
    const more = held.length > names.length ? ` and ${held.length - names.length} more` : "";
    const message =
      held.length === 1
        ? `node ${names.join()} keeps its configuration without ${objects}: ${cause}`
        : `nodes ${names.join(", ")}${more} keep their configuration without ${objects}: ${cause}`;
    await setCondition(config, { status: "True", reason, message }, signal);
    if (reported !== reason) record({ regarding: config, type: "Warning", reason, note: message });
    reported = reason;
    return undefined;
  };
}
