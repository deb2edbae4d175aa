// SPDX-License-Identifier: Apache-2.0
/**
 * keepConfigured watches the state of the node, of any kind, and calls a reconciler for each change. It runs as the
 * follower until it is stopped and as the init container until the configuration is written. It is idle as long as
 * nothing changes.
 */
import { annotations, defined, type ObjectMeta } from "@switchyard/api";
import {
  createWriter,
  startController,
  watchObjects,
  type Cache,
  type FailedWatch,
  type KubeObject,
  type Reconcile,
  type ResourceType,
  type Source,
  type Transport,
  type Writer,
} from "@switchyard/kube";
import { cacheProblems, showCacheAges, whenAborted, type Logger, type Registry } from "@switchyard/service";
import { createFailureLog } from "@switchyard/service/cluster";
import type { DevicePluginConfigFlags } from "./device-plugin-config-flags.ts";

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

/** A kind of node state. */
interface NodeState extends KubeObject {
  readonly spec?: object;
  readonly status?: object;
}

export interface ConfiguredKind<State extends NodeState> {
  readonly type: ResourceType;
  /** Field manager. Must stay the same in all releases. */
  readonly manager: string;
  readonly createReconcile: (deps: {
    /** Returns the state of the node from the cache. */
    readonly state: () => State | undefined;
    readonly writer: Writer<State>;
    /** Must be called when the init container has written the configuration. */
    readonly onWritten: () => void;
  }) => Reconcile;
  /** Enqueues the node when something else has changed, until the signal aborts. */
  readonly watchMore?: (enqueue: () => void, signal: AbortSignal) => void;
}

/**
 * Resolves when `signal` has aborted. With `wait`, it resolves when the file is written, and rejects if `signal` aborts
 * before that.
 */
export async function keepConfigured<State extends NodeState>(
  options: ConfigurePluginOptions,
  { type, manager, createReconcile, watchMore }: ConfiguredKind<State>,
): Promise<void> {
  const { transport, namespace, nodeName, log } = options;
  const failed = createFailureLog(log);
  const report = (error: unknown, { resource, ageMs }: FailedWatch): void => {
    failed({ resource, ageMs, error }, "watch failed; retrying");
  };
  await using states = watchObjects({
    transport,
    namespace,
    report,
    type,
    fieldSelector: `metadata.name=${nodeName}`,
    project: (state: State): State => ({ ...state, metadata: withoutManagedFields(state.metadata) }),
    managers: [manager],
  });
  showCacheAges(options.metrics, () => [states]);
  options.setNotReady(() => cacheProblems([states], options.maxCacheAge));
  const written = new AbortController();
  const controller = startController({
    name: "device-plugin-config",
    reconcile: createReconcile({
      state: () => states.get(nodeName),
      writer: createWriter<State>({ transport, namespace, manager, type, cache: states }),
      onWritten: () => {
        written.abort();
      },
    }),
    parallel: 1,
    sources: [sourceOf(states, nodeName, watchMore)],
    signal: AbortSignal.any([]),
    backoff: { baseMs: 200, maxMs: 10_000 }, // short, because the next attempt also reports the failure
    report(error, { isKnown }) {
      log[isKnown ? "debug" : "warn"]({ error }, "device plugin not configured; retrying");
    },
  });
  await whenAborted(AbortSignal.any([options.signal, written.signal]));
  await controller[Symbol.asyncDispose]();
  // An init container that exits with 0 lets the plugin start, possibly with an old file.
  if (options.wait && !written.signal.aborted) throw new Error("stopped before the configuration was written");
}

/** Also enqueues the node if it has no state. */
function sourceOf<State extends NodeState>(
  states: Cache<State>,
  nodeName: string,
  watchMore: ConfiguredKind<State>["watchMore"] = () => undefined,
): Source {
  return {
    start(enqueue) {
      const again = (): void => {
        enqueue(nodeName);
      };
      const stop = new AbortController();
      again();
      const unsubscribe = states.subscribe(again);
      watchMore(again, stop.signal);
      return () => {
        stop.abort();
        unsubscribe();
      };
    },
    whenSynced: (until) => states.whenSynced(until),
  };
}

/** managedFields are as large as the rest of the object. Of the annotations, only the VFs of a drain count. */
function withoutManagedFields({ name, namespace, uid, generation, annotations: notes = {} }: ObjectMeta): ObjectMeta {
  const vfs = notes[annotations.drainVfs];
  const drain = vfs === undefined ? undefined : { [annotations.drainVfs]: vfs };
  return { name, ...defined({ namespace, uid, generation, annotations: drain }) };
}
