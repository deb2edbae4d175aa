// SPDX-License-Identifier: Apache-2.0
/** createPoolPlugins runs one plugin of the kubelet for each pool, and registers it. */
import type { ContainerAllocation, SocketWatch } from "@switchyard/kubelet";
import type { Logger } from "@switchyard/service";
import { keepRegistered } from "./kubelet/keep-registered.ts";
import type { PluginMetrics } from "./plugin-metrics.ts";
import { resourceOf, type NodePool } from "./pools/node-pools.ts";
import { createPoolPlugin, type PoolPlugin } from "./pools/pool-plugin.ts";

export interface PoolPluginsDeps {
  /** Directory with the sockets of the plugins and of the kubelet. */
  readonly directory: string;
  readonly watch: SocketWatch;
  /** Prepares devices of a pool for a container. */
  readonly allocate: (pool: string, devices: readonly string[]) => Promise<ContainerAllocation>;
  /** Called after an allocation has failed. */
  readonly allocationFailed: () => void;
  readonly metrics: PluginMetrics;
  readonly log: Logger;
}

export interface RunningPlugin {
  readonly plugin: PoolPlugin;
  /** Serves the plugin and registers it, from the first call on. */
  readonly register: () => void;
}

export interface PoolPlugins extends AsyncDisposable {
  /** Starts the plugins of new pools, and withdraws the resources of pools that are gone. */
  set(pools: readonly NodePool[]): Promise<void>;
  get(pool: string): RunningPlugin | undefined;
}

interface Running extends RunningPlugin {
  readonly stop: () => Promise<void>;
}

export function createPoolPlugins(deps: PoolPluginsDeps): PoolPlugins {
  const { metrics, log } = deps;
  const running = new Map<string, Running>();
  return {
    async set(pools) {
      for (const { name } of pools) if (!running.has(name)) running.set(name, run(name, deps));
      for (const [name, { plugin, stop }] of running) {
        if (pools.some((pool) => pool.name === name)) continue;
        plugin.setDevices([]);
        running.delete(name);
        await stop();
        for (const health of ["healthy", "unhealthy"]) metrics.devices.remove({ pool: name, health });
        log.info({ resource: resourceOf({ name }) }, "resource withdrawn");
      }
    },
    get: (pool) => running.get(pool),
    async [Symbol.asyncDispose]() {
      await Promise.all([...running.values()].map(({ stop }) => stop()));
    },
  };
}

function run(name: string, { directory, watch, allocate, allocationFailed, metrics, log }: PoolPluginsDeps): Running {
  const stopped = new AbortController();
  const plugin = createPoolPlugin({
    allocate: (devices) => allocate(name, devices),
    failed(error) {
      metrics.allocations.inc({ pool: name, result: "failed" });
      log.warn({ pool: name, error }, "allocation failed");
      allocationFailed();
    },
  });
  const resourceName = resourceOf({ name });
  let done: Promise<void> | undefined;
  return {
    plugin,
    // Not earlier: an empty list would take the devices from pods that the kubelet admits at the same time.
    register() {
      done ??= keepRegistered(
        {
          directory,
          endpoint: `afxdp-${name}.sock`,
          resourceName,
          service: plugin.service,
          watch,
          registered() {
            metrics.registrations.inc({ pool: name, result: "ok" });
            log.info({ resource: resourceName }, "registered with the kubelet");
          },
          failed(error, retryMs) {
            metrics.registrations.inc({ pool: name, result: "failed" });
            log.warn({ resource: resourceName, error, retryMs }, "not registered with the kubelet; retrying");
          },
        },
        stopped.signal,
      );
    },
    async stop() {
      stopped.abort();
      await done;
    },
  };
}
