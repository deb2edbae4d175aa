// SPDX-License-Identifier: Apache-2.0
/**
 * createRestoreReports acts on the restore of a backup of etcd, which the versions of the operator's Lease show within seconds: all
 * caches list their objects again, and the SriovOperatorConfig gets an event. Without that, a watch gets nothing until its silence is
 * noticed (reflector.ts).
 * Usage: `const restores = createRestoreReports({ caches, log }); context.start(restores.controller(context));`.
 */
import { eventReasons, operatorConfigName } from "@switchyard/api";
import type { Cache, EventRecorder, KubeObject, Source } from "@switchyard/kube";
import type { Logger } from "@switchyard/service";
import type { ControllerDefinition } from "../operator-context.ts";

export interface RestoreReports {
  /** To be called when the version of an object went back. */
  readonly onRewind: () => void;
  /** Returns the controller that sends the event, also of a restore before it started. */
  readonly controller: (context: RestoreContext) => ControllerDefinition;
}

/** The parts of OperatorContext that the controller needs. */
export interface RestoreContext {
  readonly events: Pick<EventRecorder, "record">;
  readonly caches: { readonly operatorConfigs: Cache<KubeObject> };
}

export interface RestoreReportsDeps {
  /** The caches whose objects are listed again, if they can be. */
  readonly caches: readonly object[];
  readonly log: Pick<Logger, "warn">;
}

export function createRestoreReports({ caches, log }: RestoreReportsDeps): RestoreReports {
  const listeners = new Set<() => void>();
  let isPending = false;
  const source: Source = {
    start(enqueue) {
      const listener = (): void => {
        enqueue(operatorConfigName);
      };
      listeners.add(listener);
      if (isPending) listener();
      return () => {
        listeners.delete(listener);
      };
    },
    whenSynced: () => Promise.resolve(),
  };

  return {
    onRewind() {
      log.warn("versions of the API server went back, as after the restore of a backup; reading all objects again");
      for (const cache of caches) if (canDoubt(cache)) cache.doubt();
      isPending = true;
      for (const listener of listeners) listener();
    },
    controller: ({ events, caches: { operatorConfigs } }) => ({
      name: "restore-reports",
      reads: [operatorConfigs],
      reconcile(name) {
        const regarding = operatorConfigs.get(name);
        if (isPending && regarding !== undefined) {
          const note = "the versions of the API server went back, as after the restore of a backup; all objects are read again";
          events.record({ regarding, type: "Warning", reason: eventReasons.backupRestored, note });
          isPending = false;
        }
        return Promise.resolve(undefined);
      },
      sources: [source],
    }),
  };
}

function canDoubt(cache: object): cache is { doubt(): void } {
  return "doubt" in cache && typeof cache.doubt === "function";
}
