// SPDX-License-Identifier: Apache-2.0
/**
 * A config daemon on a fake kernel, in a process of its own: all of the real daemon but the host underneath.
 * Usage: `node fake-node.ts --kernel-socket /tmp/x/worker-1.sock --node-name worker-1 --kubeconfig … --namespace …`
 */
import { runDaemon } from "@switchyard/config-daemon/daemon";
import { connectFakeHost } from "@switchyard/host/testing";
import { connect } from "@switchyard/kube";
import { flag, levelOfVerbosity, runFrugally, runService, text, yesOrNo } from "@switchyard/service";

runFrugally();
const exitCode = await runService({
  name: "config-daemon",
  version: "0.1.0",
  summary: "The config daemon on a fake kernel.",
  flags: {
    nodeName: flag(text("NAME"), { required: true, env: "NODE_NAME", help: "The node that this process runs on." }),
    kernelSocket: flag(text("PATH"), {
      required: true,
      env: "KERNEL_SOCKET",
      help: "Where the fake kernel is served.",
    }),
    useExternalDrainer: flag(yesOrNo, {
      default: "false",
      env: "USE_EXTERNAL_DRAINER",
      help: "Leave draining this node to somebody else than the operator.",
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

// Whatever is still open, an idle connection or a watch of the kernel, is nothing to wait for.
process.exit(exitCode);
