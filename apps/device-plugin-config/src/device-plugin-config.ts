// SPDX-License-Identifier: Apache-2.0
/**
 * The service beside a device plugin: its init container with --wait, its follower without. main.ts is its process. What only the
 * plugin for AF_XDP needs is loaded for it only.
 */
import { connect } from "@switchyard/kube";
import { levelOfVerbosity, runService } from "@switchyard/service";
import { configurePlugin } from "./configure-plugin.ts";
import { devicePluginConfigFlags } from "./device-plugin-config-flags.ts";
import { followLogLevel } from "./follow-log-level.ts";

/** Runs until the configuration is written (--wait) or until SIGTERM, and returns the exit code of the process. */
export function runDevicePluginConfig(): Promise<number> {
  return runService({
    name: "device-plugin-config",
    summary:
      "Configures the SR-IOV device plugin of a node to advertise the VFs of its SriovNetworkNodeState, " +
      "or that of afxdp-plugins-for-kubernetes to announce the devices of its AfxdpNetworkNodeState.",
    flags: devicePluginConfigFlags,
    async main({ flags, setLogLevel, ...service }) {
      await using transport = await connect({ kubeconfig: flags.kubeconfig });
      if (flags.plugin === "afxdp") {
        setLogLevel(levelOfVerbosity(flags.verbosity, flags.logLevel));
        const { configureAfxdpPlugins } = await import("./afxdp-plugins/configure-afxdp-plugins.ts");
        await configureAfxdpPlugins({ ...flags, ...service, transport });
        return;
      }
      await using _logLevel = followLogLevel({
        ...{ transport, namespace: flags.namespace, log: service.log },
        onVerbosity(verbosity) {
          setLogLevel(levelOfVerbosity(verbosity, flags.logLevel));
        },
      });
      await configurePlugin({ ...flags, ...service, transport });
    },
  });
}
