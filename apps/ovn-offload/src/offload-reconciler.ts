// SPDX-License-Identifier: Apache-2.0
/**
 * createOffloadReconciler runs decide() on the caches, sends its writes and reports the status. All hosts share one key,
 * because DNS placement and ConfigMaps depend on all of them.
 */
import { labels } from "@switchyard/api";
import { isKubeError, type Reconcile } from "@switchyard/kube";
import { mapConcurrently } from "@switchyard/service";
import type { OffloadCaches } from "./caches/offload-caches.ts";
import { decide } from "./decide/decide.ts";
import type { OffloadWrite } from "./decide/observed.ts";
import { hostLabelsOf } from "./decide/host-state.ts";
import { withRefusals, type Refusal } from "./decide/offload-statuses.ts";
import type { Execute } from "./execute-write.ts";
import type { ForeignMachineConfigs } from "./foreign-machine-configs.ts";
import type { LostObjects } from "./lost-objects.ts";
import { observeCluster, type ObserveSettings } from "./observe.ts";
import type { PodChecks } from "./pods/pod-checks.ts";
import type { WriteOffloadStatus } from "./offload-status-writer.ts";
import { createStatusPace } from "./status-pace.ts";

export interface OffloadReconcilerDeps {
  readonly caches: OffloadCaches;
  readonly settings: Omit<ObserveSettings, "foreignMachineConfigs" | "waitingPodsOf" | "lostPolicies">;
  readonly foreign: ForeignMachineConfigs;
  readonly lost: LostObjects;
  readonly pods: PodChecks;
  readonly execute: Execute;
  readonly writeStatus: WriteOffloadStatus;
}

/** Number of writes that are sent at the same time. */
const parallel = 8;

const conflictMs = 500;

/** Objects of others that have our names are not watched. */
const recheckMs = 30_000;

/** Answers of admission. Others, such as a timeout, say nothing about the object. */
const refusalCodes = ["Forbidden", "Invalid", "BadRequest"];

function refusalOf(write: OffloadWrite, error: unknown): Refusal | undefined {
  if (!isKubeError(error, ...refusalCodes)) return undefined;
  const { words } = error;
  switch (write.kind) {
    case "apply-policy": {
      const { name, labels: own = {} } = write.policy.metadata;
      return { object: `SriovNetworkNodePolicy ${name}`, pool: own[labels.ovnOffloadPool], words };
    }
    case "apply-machine-config": {
      const { name, labels: own = {} } = write.config.metadata;
      return { object: `MachineConfig ${name}`, pool: own[labels.ovnOffloadPool], words };
    }
    case "label-node":
    case "taint-node":
      return { object: `Node ${write.node}`, pool: undefined, words };
    case "write-network":
      return { object: `NetworkAttachmentDefinition ${write.network.metadata.name}`, pool: undefined, words };
    case "patch-dns":
      return { object: "DNS default", pool: undefined, words };
    case "patch-config-map":
      return { object: `ConfigMap ${configMapNames[write.role]}`, pool: undefined, words };
    default:
      return undefined; // A deletion is reported by what is left.
  }
}

const configMapNames = {
  managementPorts: "ovn-management-ports",
  envOverrides: "env-overrides",
  hardwareOffload: "hardware-offload-config",
} as const;

export function createOffloadReconciler(deps: OffloadReconcilerDeps): Reconcile {
  const { caches, settings, foreign, lost, pods, execute, writeStatus } = deps;
  const pace = createStatusPace(() => performance.now());

  return async function reconcile(_key, signal) {
    await foreign.recheck(signal);
    const labelled = caches.nodes.list().filter((node) => hostLabelsOf(node).length > 0);
    await pods.recheck(
      labelled.map(({ metadata }) => metadata.name),
      signal,
    );
    const waitingPodsOf = (node: string) => pods.of(node);
    lost.look();
    const observed = observeCluster(caches, {
      ...{ ...settings, foreignMachineConfigs: foreign.names, waitingPodsOf },
      lostPolicies: lost.policies(),
    });
    const decision = decide(observed);
    const failures: unknown[] = [];
    const refusals: Refusal[] = [];
    await mapConcurrently(decision.writes, parallel, async (write) => {
      try {
        await execute(write, observed.configMaps, signal);
        lost.written(write);
      } catch (error) {
        failures.push(error);
        const refusal = refusalOf(write, error);
        if (refusal !== undefined) refusals.push(refusal);
      }
    });
    const statuses = withRefusals(decision, refusals);
    const waitMs = await pace.run(statuses, () => writeStatus(statuses, signal));
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
