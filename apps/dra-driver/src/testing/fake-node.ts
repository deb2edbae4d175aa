// SPDX-License-Identifier: Apache-2.0
/**
 * Runs the driver on a fake kernel in its own process. Only the host differs from the real driver; it attaches no VFs to pods.
 * Usage: `node fake-node.ts --kernel-socket /tmp/x/worker-1.sock --kubelet-directory /tmp/x/kubelet --node-name worker-1 --kubeconfig …`
 */
import { connectFakeHost } from "@switchyard/host/testing";
import { flag, nodeFlags, runService, text } from "@switchyard/service";
import { connectToCluster } from "@switchyard/service/cluster";
import { keepCompiledCode, restartWithMemoryFlags, setHeapGrowthStep } from "@switchyard/service/memory";
import { draDriverFlags } from "../dra-driver-flags.ts";
import { serveNode } from "../serve-node.ts";

restartWithMemoryFlags();
setHeapGrowthStep();
keepCompiledCode();
const exitCode = await runService({
  name: "dra-driver",
  summary: "The driver of ResourceClaims on a fake kernel.",
  flags: {
    nodeName: nodeFlags.nodeName,
    kubeletDirectory: draDriverFlags.kubeletDirectory,
    resourcePrefix: draDriverFlags.resourcePrefix,
    kernelSocket: flag(text("PATH"), { required: true, env: "KERNEL_SOCKET", help: "Socket of the fake kernel." }),
  },
  async main({ flags, ...service }) {
    const { kubeconfig, kubeletDirectory, kernelSocket } = flags;
    await using connection = await connectToCluster({ kubeconfig, ...service });
    await serveNode({
      ...flags,
      ...service,
      transport: connection.transport,
      log: connection.log,
      host: connectFakeHost(kernelSocket),
      kubelet: { directory: kubeletDirectory, onHost: kubeletDirectory },
      setNotReady(check) {
        service.setNotReady(() => [...connection.problems(), ...check()]);
      },
    });
  },
});

// Idle connections and watches of the kernel would keep the process alive.
process.exit(exitCode);
