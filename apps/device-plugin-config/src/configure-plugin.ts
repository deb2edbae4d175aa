// SPDX-License-Identifier: Apache-2.0
/**
 * Follows the node's SriovNetworkNodeState and keeps the device plugin as it asks: until stopped, or, for the init
 * container, until there is something to start the plugin for. Does nothing while nothing happens.
 *
 * The init container's rule, with the gate on: the daemon is through with this boot, at least one VF can be handed out,
 * nothing is stale, and the daemon is not at work on VFs (is-at-work.ts). With the gate off: the node's state is known, or is
 * known not to be there. The plugin then starts at once, but no VF is handed out that the daemon has not seen to in this
 * boot: the follower adds them.
 *
 * What is not known changes nothing: without a state, or before the daemon's first report, all stays as it is.
 *
 * Usage: `await configurePlugin({ transport, nodeName, namespace, configFile, …, signal });`
 */
import { sriovNetworkNodeStates, type SriovNetworkNodeState, type SriovNetworkNodeStateStatus } from "@switchyard/api";
import {
  createWriter,
  setCondition,
  startController,
  watchObjects,
  type FailedWatch,
  type Requeue,
  type Transport,
} from "@switchyard/kube";
import { cacheProblems, showCacheAges, type Logger, type Registry } from "@switchyard/service";
import { readBootId } from "./boot-id.ts";
import { judge, notApplied, type Verdict } from "./condition.ts";
import { isInForce, writeConfig, writeRecord } from "./config-file.ts";
import type { DevicePluginConfigFlags } from "./device-plugin-config-flags.ts";
import { endPlugin } from "./end-plugin.ts";
import { handOut, namedVfs, type HandOut } from "./advertise.ts";
import { isAtWork } from "./is-daemon-busy.ts";
import { readKernelVfs } from "./kernel-vfs.ts";
import { pluginConfig, type PluginConfig } from "./plugin-config.ts";

export interface ConfigurePluginOptions extends Readonly<DevicePluginConfigFlags> {
  readonly transport: Transport;
  /** The operator's. */
  readonly namespace: string;
  /** Beyond this age of what it knows of its node, it is not ready. It goes on with what it knew. */
  readonly maxCacheAge: number;
  readonly log: Logger;
  readonly metrics: Registry;
  readonly setNotReady: (check: () => readonly string[]) => void;
  readonly signal: AbortSignal;
}

/** The same over all releases. */
const manager = "switchyard-device-plugin-config";

/** VFs that are not as the status tells are looked at again: the status may never change, if they become what it tells. */
const staleRetryMs = 2_000;

/** Resolves when `signal` has aborted or, to `wait`, when the file is written: rejects where `signal` aborts before that. */
export async function configurePlugin(options: ConfigurePluginOptions): Promise<void> {
  const { transport, namespace, nodeName, log } = options;
  const report = (error: unknown, { resource, ageMs }: FailedWatch): void => {
    log.warn({ resource, ageMs, error }, "watch failed; retrying");
  };
  await using states = watchObjects({
    ...{ transport, namespace, report },
    type: sriovNetworkNodeStates,
    fieldSelector: `metadata.name=${nodeName}`,
    project: keepWhatMatters,
    managers: [manager],
  });
  const writer = createWriter<SriovNetworkNodeState>({
    ...{ transport, namespace, manager },
    type: sriovNetworkNodeStates,
    cache: states,
  });
  showCacheAges(options.metrics, () => [states]);
  options.setNotReady(() => cacheProblems([states], options.maxCacheAge));
  const done = new AbortController();
  const end = AbortSignal.any([options.signal, done.signal]);
  let told = "";

  async function reconcile(_key: string, signal: AbortSignal): Promise<Requeue | undefined> {
    const state = states.get(nodeName);
    if (state?.status?.interfaces === undefined) {
      if (options.wait && !options.blockUntilConfigured) await finish(pluginConfig({ resourceList: null }, new Map()));
      else tell("waiting for the node's state to be reported");
      return undefined;
    }
    try {
      return await follow(state, state.status, signal);
    } catch (error) {
      if (signal.aborted) throw error;
      // Whatever it was, the node's state says so until it works. The error that is thrown is the one that counts.
      const tried = `have ${options.pluginProcess} read ${options.configFile}`;
      await writeVerdict(state, notApplied(tried, error), signal).catch((cause: unknown) => {
        log.warn({ error: cause }, "condition DevicePluginConfigured not written; retrying");
      });
      throw error;
    }
  }

  async function follow(
    state: SriovNetworkNodeState,
    status: SriovNetworkNodeStateStatus,
    signal: AbortSignal,
  ): Promise<Requeue | undefined> {
    const kernel = await readKernelVfs(options.hostRoot, namedVfs(state));
    const isSeen = status.bootID === (await readBootId(options.hostRoot));
    // With the gate on, the follower's plugin was let start by this boot's init container, after the daemon. That a status
    // names no boot, as upstream's daemon writes it, or another one, takes nothing from it.
    const isThisBoot = isSeen || (!options.wait && options.blockUntilConfigured);
    const next = handOut(state, { kernel, block: options.blockUntilConfigured, isThisBoot });
    const config = pluginConfig(next.rendered.config, kernel);
    const verdict = judge(next);
    tell(verdict.message);
    if (options.wait) {
      if (!options.blockUntilConfigured || isWorthStarting(state, next)) await finish(config);
    } else if (isThisBoot) await keepInForce(config);
    await writeVerdict(state, verdict, signal);
    return next.pending.some(({ why }) => why === "stale") ? { afterMs: staleRetryMs } : undefined;
  }

  async function keepInForce(config: PluginConfig): Promise<void> {
    if (await isInForce(options.configFile, config)) return;
    await writeConfig(options.configFile, config.text);
    const pids = await endPlugin(options.pluginProcess);
    await writeRecord(options.configFile, config.record);
    log.info({ file: options.configFile, pids }, "configuration written, the plugin starts anew");
  }

  /** Of a plugin that does not run yet. */
  async function finish(config: PluginConfig): Promise<void> {
    await writeConfig(options.configFile, config.text);
    await writeRecord(options.configFile, config.record);
    log.info({ file: options.configFile }, "configuration written");
    done.abort();
  }

  async function writeVerdict(
    { metadata, status }: SriovNetworkNodeState,
    verdict: Verdict,
    signal: AbortSignal,
  ): Promise<void> {
    const own = (status?.conditions ?? []).filter(({ type }) => type === verdict.type);
    const observedGeneration = metadata.generation ?? 0;
    const conditions = setCondition(own, { ...verdict, observedGeneration }, new Date());
    const { name, namespace: ofState, uid } = metadata;
    // Of this very object: an apply would make a new one if it went.
    const identity = { name, ...(ofState === undefined ? {} : { namespace: ofState }), ...(uid && { uid }) };
    await writer.applyStatus({ metadata: identity, status: { conditions } }, signal);
  }

  function tell(message: string): void {
    if (message !== told) log.info({ node: nodeName }, message);
    told = message;
  }

  const controller = startController({
    name: "device-plugin-config",
    reconcile,
    parallel: 1,
    sources: [
      {
        start(enqueue) {
          enqueue(nodeName); // also where there is no state
          return states.subscribe(() => {
            enqueue(nodeName);
          });
        },
        whenSynced: (until) => states.whenSynced(until),
      },
    ],
    signal: AbortSignal.any([]),
    backoff: { baseMs: 200, maxMs: 10_000 }, // what fails is reported by the next try at the latest
    report(error) {
      log.warn({ error }, "not configured, will be tried again");
    },
  });
  await new Promise<void>((resolve) => {
    if (end.aborted) resolve();
    end.addEventListener(
      "abort",
      () => {
        resolve();
      },
      { once: true },
    );
  });
  await controller[Symbol.asyncDispose]();
  // An init container that ends with 0 lets the plugin start, with the file of before where there is one.
  if (options.wait && !done.signal.aborted) throw new Error("told to end before the configuration was written");
}

/** Whether to start a plugin now is better than to wait: it starts anew for whatever comes later. */
function isWorthStarting(state: SriovNetworkNodeState, { rendered, pending }: HandOut): boolean {
  if ((rendered.config.resourceList ?? []).length === 0 || isAtWork(state)) return false;
  return !pending.some(({ why }) => why === "stale");
}

/** Without managedFields, which are as large as all the rest. */
function keepWhatMatters({ metadata, spec, status, ...kind }: SriovNetworkNodeState): SriovNetworkNodeState {
  const { name, namespace, uid, generation } = metadata;
  return {
    ...kind,
    metadata: {
      name,
      ...(namespace === undefined ? {} : { namespace }),
      ...(uid === undefined ? {} : { uid }),
      ...(generation === undefined ? {} : { generation }),
    },
    ...(spec === undefined ? {} : { spec }),
    ...(status === undefined ? {} : { status }),
  };
}
