// SPDX-License-Identifier: Apache-2.0
/**
 * createOffloadReconciler runs decide() on the caches, sends its writes and reports the status. All hosts share one key,
 * because DNS placement and ConfigMaps depend on all of them.
 */
import { isKubeError, type Reconcile } from "@switchyard/kube";
import { mapConcurrently } from "@switchyard/service";
import type { OffloadCaches } from "./caches/offload-caches.ts";
import { decide } from "./decide/decide.ts";
import { hostLabelsOf } from "./decide/host-state.ts";
import type { Execute } from "./execute-write.ts";
import type { ForeignMachineConfigs } from "./foreign-machine-configs.ts";
import { observeCluster, type ObserveSettings } from "./observe.ts";
import type { PodChecks } from "./pods/pod-checks.ts";
import type { WriteOffloadStatus } from "./offload-status-writer.ts";
import { createStatusPace } from "./status-pace.ts";

export interface OffloadReconcilerDeps {
  readonly caches: OffloadCaches;
  readonly settings: Omit<ObserveSettings, "foreignMachineConfigs" | "waitingPodsOf">;
  readonly foreign: ForeignMachineConfigs;
  readonly pods: PodChecks;
  readonly execute: Execute;
  readonly writeStatus: WriteOffloadStatus;
}

/** Number of writes that are sent at the same time. */
const parallel = 8;

const conflictMs = 500;

/** Objects of others that have our names are not watched. */
const recheckMs = 30_000;

export function createOffloadReconciler(deps: OffloadReconcilerDeps): Reconcile {
  const { caches, settings, foreign, pods, execute, writeStatus } = deps;
  const pace = createStatusPace(() => performance.now());

  return async function reconcile(_key, signal) {
    await foreign.recheck(signal);
    const labelled = caches.nodes.list().filter((node) => hostLabelsOf(node).length > 0);
    await pods.recheck(
      labelled.map(({ metadata }) => metadata.name),
      signal,
    );
    const waitingPodsOf = (node: string) => pods.of(node);
    const observed = observeCluster(caches, { ...settings, foreignMachineConfigs: foreign.names, waitingPodsOf });
    const decision = decide(observed);
    const failures: unknown[] = [];
    await mapConcurrently(decision.writes, parallel, async (write) => {
      try {
        await execute(write, observed.configMaps, signal);
      } catch (error) {
        failures.push(error);
      }
    });
    const waitMs = await pace.run(decision, () => writeStatus(decision, signal));
    // One refused write does not stop the others. After a conflict, the caches soon show what another program has written.
    const others = failures.filter((error) => !isKubeError(error, "Conflict"));
    if (others.length > 0) throw others[0];
    const waits = [
      ...(failures.length > 0 ? [conflictMs] : []),
      ...(waitMs === undefined ? [] : [waitMs]),
      ...(decision.overall === undefined ? [] : [recheckMs]),
    ];
    return waits.length === 0 ? undefined : { afterMs: Math.min(...waits) };
  };
}
