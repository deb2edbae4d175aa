// SPDX-License-Identifier: Apache-2.0
/**
 * The service beside the device plugin: its init container with --wait, its follower without. main.ts is its process.
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
    summary: "Configures the SR-IOV device plugin of a node to advertise the VFs of its SriovNetworkNodeState.",
    flags: devicePluginConfigFlags,
    async main({ flags, setLogLevel, ...service }) {
      await using transport = await connect({ kubeconfig: flags.kubeconfig });
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
