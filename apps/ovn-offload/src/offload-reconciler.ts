// SPDX-License-Identifier: Apache-2.0
/**
 * createOffloadReconciler runs decide() on the caches, sends its writes and reports the status. All hosts share one key,
 * because DNS placement and ConfigMaps depend on all of them.
 * Usage: `startController({ name: "ovn-offload", reconcile: createOffloadReconciler(deps), ... })`.
 */
import { conditionTypes, operatorConfigName, type SriovOperatorConfig } from "@switchyard/api";
import { isKubeError, setCondition, setConditions, type Reconcile, type Writer } from "@switchyard/kube";
import { mapConcurrently } from "@switchyard/service";
import type { OffloadCaches } from "./caches/offload-caches.ts";
import { decide, type Decision } from "./decide/decide.ts";
import type { OffloadState } from "./decide/offload-statuses.ts";
import type { Execute } from "./execute-write.ts";
import type { ForeignMachineConfigs } from "./foreign-machine-configs.ts";
import { observe, type ObserveSettings } from "./observe.ts";

export interface OffloadReconcilerDeps {
  readonly caches: OffloadCaches;
  readonly settings: Omit<ObserveSettings, "foreignMachineConfigs">;
  readonly foreign: ForeignMachineConfigs;
  readonly execute: Execute;
  readonly statusWriter: Writer<SriovOperatorConfig>;
  readonly now: () => Date;
}

/** Number of writes that are sent at the same time. */
const parallel = 16;

const conflictMs = 500;

/** Objects of others that have our names are not watched. */
const recheckMs = 30_000;

export function createOffloadReconciler(deps: OffloadReconcilerDeps): Reconcile {
  const { caches, settings, foreign, execute, statusWriter, now } = deps;

  return async function reconcile(_key, signal) {
    await foreign.recheck(signal);
    const observed = observe(caches, { ...settings, foreignMachineConfigs: foreign.names });
    const decision = decide(observed);
    const failures: unknown[] = [];
    await mapConcurrently(decision.writes, parallel, async (write) => {
      try {
        await execute(write, observed.configMaps, signal);
      } catch (error) {
        failures.push(error);
      }
    });
    await writeStatus(decision, signal);
    // One refused write does not stop the others. After a conflict, the caches soon show what another program has written.
    const others = failures.filter((error) => !isKubeError(error, "Conflict"));
    if (others.length > 0) throw others[0];
    if (failures.length > 0) return { afterMs: conflictMs };
    return decision.overall === undefined ? undefined : { afterMs: recheckMs };
  };

  async function writeStatus(decision: Decision, signal: AbortSignal): Promise<void> {
    const config = caches.operatorConfigs.get(operatorConfigName);
    if (config === undefined) return;
    const present = config.status?.ovnHardwareOffload ?? [];
    const observedGeneration = config.metadata.generation;
    if (decision.overall === undefined && present.length === 0 && !hasCondition(config)) return;
    const pools = decision.pools.map(({ state, message, ...pool }) => {
      const existing = present.find((one) => one.pool === pool.pool)?.conditions;
      const conditions = setConditions(existing, conditionsOf({ state, message }), { now: now() });
      return { ...pool, conditions };
    });
    const own = config.status?.conditions?.filter(({ type }) => type === conditionTypes.hardwareOffload);
    const conditions =
      decision.overall && setCondition(own, overallCondition(decision.overall, observedGeneration), now());
    const status = { ...(conditions && { conditions }), ...(pools.length > 0 && { ovnHardwareOffload: pools }) };
    await statusWriter.applyStatus({ metadata: { name: operatorConfigName }, status }, signal);
  }
}

function hasCondition({ status }: SriovOperatorConfig): boolean {
  return status?.conditions?.some(({ type }) => type === conditionTypes.hardwareOffload) === true;
}

const reasons = { ready: "Ready", progressing: "Progressing", degraded: "Degraded" } as const;

function conditionsOf({ state, message }: OffloadState) {
  const reason = reasons[state];
  const text = state === "ready" ? "OVN of all hosts runs on their SmartNIC" : message;
  return (["Ready", "Progressing", "Degraded"] as const).map((type) => ({
    ...{ type, reason, message: text },
    status: type === reasons[state] ? ("True" as const) : ("False" as const),
  }));
}

function overallCondition({ state, message }: OffloadState, observedGeneration: number | undefined) {
  return {
    type: conditionTypes.hardwareOffload,
    status: state === "ready" ? ("True" as const) : ("False" as const),
    reason: reasons[state],
    message: state === "ready" ? "OVN of all hosts runs on their SmartNIC" : message,
    ...(observedGeneration !== undefined && { observedGeneration }),
  };
}
