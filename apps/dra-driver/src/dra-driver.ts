// SPDX-License-Identifier: Apache-2.0
/** The service that gives VFs to pods by ResourceClaims. main.ts is its process. */
import { createLinuxHost } from "@switchyard/host";
import { runService } from "@switchyard/service";
import { connectToCluster } from "@switchyard/service/cluster";
import { collectAtQuarterOfLimit, releaseMemoryAfter } from "@switchyard/service/memory";
import { join } from "node:path";
import { createPluginRunner } from "./attach/run-chain.ts";
import { draDriverFlags } from "./dra-driver-flags.ts";
import { serveNode } from "./serve-node.ts";

/** Time after the first pass in which the garbage of the start is made. */
const startEndMs = 1_000;

/** Runs until SIGTERM, and returns the exit code of the process. */
export function runDraDriver(): Promise<number> {
  return runService({
    name: "dra-driver",
    summary: "Offers the VFs of a node in ResourceSlices, and prepares them for the pods of ResourceClaims.",
    flags: draDriverFlags,
    async main({ flags, ...service }) {
      const { hostRoot, kubeletDirectory } = flags;
      const releaseMemory = releaseMemoryAfter(startEndMs);
      const { kubeconfig } = flags;
      await using connection = await connectToCluster({ kubeconfig, ...service });
      const { transport, log } = connection;
      await using host = createLinuxHost(hostRoot, { onUnreadableRecord: () => undefined });
      await serveNode({
        ...flags,
        ...service,
        transport,
        log,
        host,
        onStarted() {
          collectAtQuarterOfLimit();
          releaseMemory();
        },
        attach: flags.attachNetworks
          ? {
              socketPath: join(hostRoot, flags.nriSocket.replace(/^\/var\/run\//, "/run/")),
              runPlugin: createPluginRunner({ hostRoot, binDirectory: flags.cniBinDirectory }),
            }
          : undefined,
        kubelet: { directory: join(hostRoot, kubeletDirectory), onHost: kubeletDirectory },
        setNotReady(check) {
          service.setNotReady(() => [...connection.problems(), ...check()]);
        },
      });
    },
  });
}
