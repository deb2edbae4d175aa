// SPDX-License-Identifier: Apache-2.0
/**
 * configurePlugin watches the SriovNetworkNodeState of the node and keeps the configuration of the device plugin up to date.
 * The follower runs until it is stopped. The init container ends when the plugin can start. Both are idle as long as nothing
 * changes.
 * Usage: `await configurePlugin({ transport, nodeName, namespace, configFile, …, signal });`
 */
import { defined, sriovNetworkNodeStates, type SriovNetworkNodeState } from "@switchyard/api";
import { createLinuxBoot, createLinuxSriovSysfs } from "@switchyard/host/sysfs";
import {
  createWriter,
  startController,
  watchObjects,
  type Cache,
  type FailedWatch,
  type Source,
  type Transport,
} from "@switchyard/kube";
import { cacheProblems, showCacheAges, whenAborted, type Logger, type Registry } from "@switchyard/service";
import type { DevicePluginConfigFlags } from "./device-plugin-config-flags.ts";
import { createPluginReconciler } from "./plugin-reconciler.ts";

export interface ConfigurePluginOptions extends Readonly<DevicePluginConfigFlags> {
  readonly transport: Transport;
  /** Namespace of the operator. */
  readonly namespace: string;
  /** If the cache is older than this, in ms, the process is not ready. It continues with the cached object. */
  readonly maxCacheAge: number;
  readonly log: Logger;
  readonly metrics: Registry;
  readonly setNotReady: (check: () => readonly string[]) => void;
  readonly signal: AbortSignal;
}

/** Must stay the same in all releases. */
const manager = "switchyard-device-plugin-config";

/**
 * Resolves when `signal` has aborted. With `wait`, it resolves when the file is written, and rejects if `signal` aborts
 * before that.
 */
export async function configurePlugin(options: ConfigurePluginOptions): Promise<void> {
  const { transport, namespace, nodeName, hostRoot, log } = options;
  const report = (error: unknown, { resource, ageMs }: FailedWatch): void => {
    log.warn({ resource, ageMs, error }, "watch failed; retrying");
  };
  await using states = watchObjects({
    ...{ transport, namespace, report },
    type: sriovNetworkNodeStates,
    fieldSelector: `metadata.name=${nodeName}`,
    project: withoutManagedFields,
    managers: [manager],
  });
  showCacheAges(options.metrics, () => [states]);
  options.setNotReady(() => cacheProblems([states], options.maxCacheAge));
  const written = new AbortController();
  const controller = startController({
    name: "device-plugin-config",
    reconcile: createPluginReconciler({
      flags: options,
      host: { sriov: createLinuxSriovSysfs(hostRoot), boot: createLinuxBoot(hostRoot) },
      state: () => states.get(nodeName),
      writer: createWriter<SriovNetworkNodeState>({
        ...{ transport, namespace, manager },
        type: sriovNetworkNodeStates,
        cache: states,
      }),
      log,
      onWritten: () => {
        written.abort();
      },
    }),
    parallel: 1,
    sources: [sourceOf(states, nodeName)],
    signal: AbortSignal.any([]),
    backoff: { baseMs: 200, maxMs: 10_000 }, // short, because the next attempt also reports the failure
    report(error) {
      log.warn({ error }, "device plugin not configured; retrying");
    },
  });
  await whenAborted(AbortSignal.any([options.signal, written.signal]));
  await controller[Symbol.asyncDispose]();
  // An init container that exits with 0 lets the plugin start, possibly with an old file.
  if (options.wait && !written.signal.aborted) throw new Error("stopped before the configuration was written");
}

/** Also enqueues the node if it has no NodeState. */
function sourceOf(states: Cache<SriovNetworkNodeState>, nodeName: string): Source {
  return {
    start(enqueue) {
      enqueue(nodeName);
      return states.subscribe(() => {
        enqueue(nodeName);
      });
    },
    whenSynced: (until) => states.whenSynced(until),
  };
}

/** managedFields are as large as the rest of the object. */
function withoutManagedFields({ metadata, spec, status, ...kind }: SriovNetworkNodeState): SriovNetworkNodeState {
  const { name, namespace, uid, generation } = metadata;
  return { ...kind, metadata: { name, ...defined({ namespace, uid, generation }) }, ...defined({ spec, status }) };
}
