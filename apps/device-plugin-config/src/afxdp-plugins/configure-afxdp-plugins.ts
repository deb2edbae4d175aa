// SPDX-License-Identifier: Apache-2.0
/**
 * configureAfxdpPlugins keeps the configuration of the device plugin of afxdp-plugins-for-kubernetes up to date with the
 * AfxdpNetworkNodeState of the node.
 */
import { afxdpNetworkNodeStates, afxdpPluginManager, type AfxdpNetworkNodeState } from "@switchyard/api";
import { createLinuxBoot } from "@switchyard/host/sysfs";
import { pluginDirectories, recordUpstreamDevices, removeUnusedSockets } from "@switchyard/host/upstream-plugin";
import { createPodResources, identityOf, watchSockets } from "@switchyard/kubelet";
import { createFileAges } from "@switchyard/service";
import { join } from "node:path";
import { endPlugin } from "../end-plugin.ts";
import { keepConfigured, type ConfigurePluginOptions } from "../keep-configured.ts";
import { createAfxdpPluginsReconciler } from "./afxdp-plugins-reconciler.ts";
import { readHeldPools, readKernelSettings, readOffered } from "./read-kernel-settings.ts";

/** Time between checks without an event. */
const resyncMs = 60_000;

/** As keepConfigured. */
export async function configureAfxdpPlugins(options: ConfigurePluginOptions): Promise<void> {
  const { wait, hostRoot, log, pluginProcess } = options;
  const directory = join(options.kubeletDirectory, "pod-resources");
  const socket = join(directory, "kubelet.sock");
  const podResources = createPodResources({ path: socket });
  const socketDirectory = join(hostRoot, pluginDirectories.sockets);
  const ageOf = createFileAges();
  const boot = createLinuxBoot("/");
  using kubelet = watchSockets(directory);

  /** The kubelet replaces its sockets when it starts. */
  async function watchKubelet(enqueue: () => void, signal: AbortSignal): Promise<void> {
    for (let seen = kubelet.changes(); !signal.aborted; seen = kubelet.changes()) {
      await kubelet.changed({ seen, timeoutMs: resyncMs }, signal);
      enqueue();
    }
  }

  await keepConfigured<AfxdpNetworkNodeState>(options, {
    type: afxdpNetworkNodeStates,
    manager: afxdpPluginManager,
    createReconcile: (deps) =>
      createAfxdpPluginsReconciler({
        flags: options,
        log,
        ...deps,
        node: {
          kernelSettings: () => readKernelSettings(hostRoot),
          offered: (signal) => readOffered(podResources, signal),
          kubeletStart: () => identityOf(socket),
          endPlugin: () => endPlugin(pluginProcess),
          recordDevices: async (given) => recordUpstreamDevices(hostRoot, given, await boot.readBootId()),
          async tidyUp(pools, signal) {
            const held = await readHeldPools(podResources, signal);
            if (held === undefined) return; // pods may have the sockets
            const removed = await removeUnusedSockets({ directory: socketDirectory, pools, held, ageOf });
            if (removed.length > 0) log.info({ removed }, "unused sockets of the device plugin removed");
          },
        },
        nowMs: () => performance.now(),
      }),
    ...(!wait && {
      watchMore(enqueue, signal) {
        void watchKubelet(enqueue, signal);
      },
    }),
  });
}
