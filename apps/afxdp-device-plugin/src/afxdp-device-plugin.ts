// SPDX-License-Identifier: Apache-2.0
/**
 * The service that gives AF_XDP devices to pods. main.ts is its process.
 */
import { join } from "node:path";
import { xskMapDirectory } from "@switchyard/api";
import { connect } from "@switchyard/kube";
import { levelOfVerbosity, runService } from "@switchyard/service";
import { afxdpDevicePluginFlags } from "./afxdp-device-plugin-flags.ts";
import { writeProgramFile } from "./loaders/write-program-file.ts";
import { createPluginMetrics } from "./plugin-metrics.ts";
import { servePoolsOfNode } from "./serve-pools-of-node.ts";
import { createPoolServer } from "./serve-pools.ts";

/** Runs until SIGTERM, and returns the exit code of the process. */
export function runAfxdpDevicePlugin(): Promise<number> {
  return runService({
    name: "afxdp-device-plugin",
    summary: "Gives the AF_XDP devices of a node, and their XSK maps, to pods.",
    flags: afxdpDevicePluginFlags,
    async main({ flags, ...service }) {
      service.setLogLevel(levelOfVerbosity(flags.verbosity, flags.logLevel));
      if (flags.loader === "bpfman") await writeProgramFile(flags.programDirectory);
      await using server = await createPoolServer({
        paths: {
          kubelet: flags.kubeletDirectory,
          sockets: flags.socketDirectory,
          maps: join(flags.bpfDirectory, xskMapDirectory),
          record: flags.recordFile,
          unprivilegedBpf: "/proc/sys/kernel/unprivileged_bpf_disabled",
        },
        loader: flags.loader,
        metrics: createPluginMetrics(service.metrics),
        log: service.log,
      });
      await using transport = await connect({ kubeconfig: flags.kubeconfig });
      await servePoolsOfNode({ ...flags, ...service, transport, server });
    },
  });
}
