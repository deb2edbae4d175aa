// SPDX-License-Identifier: Apache-2.0
/**
 * Runs the config daemon on a fake kernel in its own process. Only the host differs from the real daemon.
 * Usage: `node fake-node.ts --kernel-socket /tmp/x/worker-1.sock --node-name worker-1 --kubeconfig … --namespace …`
 */
import { runDaemon } from "@switchyard/config-daemon/daemon";
import { connectFakeHost } from "@switchyard/host/testing";
import { connect } from "@switchyard/kube";
import { flag, levelOfVerbosity, runService, text, yesOrNo } from "@switchyard/service";
import { runFrugally } from "@switchyard/service/memory";

runFrugally();
const exitCode = await runService({
  name: "config-daemon",
  summary: "The config daemon on a fake kernel.",
  flags: {
    nodeName: flag(text("NAME"), {
      required: true,
      env: "NODE_NAME",
      help: "Name of the node on which this process runs.",
    }),
    kernelSocket: flag(text("PATH"), {
      required: true,
      env: "KERNEL_SOCKET",
      help: "Socket of the fake kernel.",
    }),
    useExternalDrainer: flag(yesOrNo, {
      default: "false",
      env: "USE_EXTERNAL_DRAINER",
      help: "An external drainer, and not the operator, drains this node.",
    }),
  },
  async main({ flags, log, setLogLevel, metrics, signal, setNotReady, setNotAlive }) {
    const { nodeName, namespace, kernelSocket, useExternalDrainer, maxCacheAge: maxCacheAgeMs } = flags;
    await using transport = await connect({ kubeconfig: flags.kubeconfig });
    const host = connectFakeHost(kernelSocket);
    const node = { transport, host, nodeName, namespace, maxPfs: 4, useExternalDrainer, maxCacheAgeMs };
    const onVerbosity = (verbosity: number | undefined): void => {
      setLogLevel(levelOfVerbosity(verbosity, flags.logLevel));
    };
    await runDaemon({ ...node, log, metrics, onVerbosity, setNotReady, setNotAlive, signal });
  },
});

// Idle connections and watches of the kernel would keep the process alive.
process.exit(exitCode);
