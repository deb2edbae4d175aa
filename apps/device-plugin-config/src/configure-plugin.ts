// SPDX-License-Identifier: Apache-2.0
/**
 * configurePlugin keeps the configuration of the SR-IOV device plugin up to date with the SriovNetworkNodeState of the node.
 * Usage: `await configurePlugin({ transport, nodeName, namespace, configFile, …, signal });`
 */
import { sriovNetworkNodeStates, type SriovNetworkNodeState } from "@switchyard/api";
import { createLinuxBoot, createLinuxSriovSysfs } from "@switchyard/host/sysfs";
import { keepConfigured, type ConfigurePluginOptions } from "./keep-configured.ts";
import { readOfferedVfs } from "./config-file.ts";
import { createPluginReconciler } from "./plugin-reconciler.ts";
import { createWithholding, kubeletHolders } from "./withheld-vfs.ts";

/** Must stay the same in all releases. */
const manager = "switchyard-device-plugin-config";

/** As keepConfigured. */
export function configurePlugin(options: ConfigurePluginOptions): Promise<void> {
  const { hostRoot, log } = options;
  return keepConfigured<SriovNetworkNodeState>(options, {
    ...{ type: sriovNetworkNodeStates, manager },
    createReconcile: (deps) =>
      createPluginReconciler({
        ...{ flags: options, log, ...deps },
        withholding: createWithholding({
          resourcePrefix: options.resourcePrefix,
          offered: () => readOfferedVfs(options.configFile),
          readHolders: kubeletHolders(options.kubeletDirectory),
        }),
        host: { sriov: createLinuxSriovSysfs(hostRoot), boot: createLinuxBoot(hostRoot) },
      }),
  });
}
