// SPDX-License-Identifier: Apache-2.0
/**
 * The process beside the device plugin: its init container by --wait, its follower without.
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
  summary: "Has the node's SR-IOV device plugin hand out the VFs that its SriovNetworkNodeState asks for.",
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

// Whatever is still open, such as an idle connection, is nothing to wait for.
process.exit(exitCode);
