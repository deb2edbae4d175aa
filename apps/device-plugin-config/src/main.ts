// SPDX-License-Identifier: Apache-2.0
/**
 * The process beside the device plugin: its init container with --wait, its follower without.
 */
import { connect } from "@switchyard/kube";
import { levelOfVerbosity, runFrugally, runService } from "@switchyard/service";
import { configurePlugin } from "./configure-plugin.ts";
import { devicePluginConfigFlags } from "./device-plugin-config-flags.ts";
import { followLogLevel } from "./follow-log-level.ts";

runFrugally();
const exitCode = await runService({
  name: "device-plugin-config",
  version: "0.1.0",
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

// Idle connections would keep the process alive.
process.exit(exitCode);
