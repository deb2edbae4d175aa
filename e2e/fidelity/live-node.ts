// SPDX-License-Identifier: Apache-2.0
/**
 * startLiveNode adds a node with a fake kernel and the config daemon to a cluster. The machine reboots when the daemon requests it.
 */
import { nodes as nodeType } from "@switchyard/api";
import { runDaemon } from "@switchyard/config-daemon/daemon";
import { createFakeKernel, withQuirks } from "@switchyard/host/testing";
import { collectionPath } from "@switchyard/kube";
import { Registry, type Logger } from "@switchyard/service";
import type { DrainCluster } from "../integration/drain/drain-cluster.ts";
import type { LiveKubelet } from "./live-kubelet.ts";
import { labelsOfNode, namespace } from "./simulated-node.ts";
import { models, slots, type RandomChange } from "./random-change.ts";

export interface LiveNode extends AsyncDisposable {
  readonly name: string;
  /** The number of reboots since the start. */
  reboots(): number;
}

export interface LiveNodeOptions {
  readonly cluster: DrainCluster;
  readonly log: Logger;
  /** Absent on a node whose daemon does not know which pods have VFs. */
  readonly kubelet?: LiveKubelet | undefined;
}

export async function startLiveNode(
  name: string,
  change: RandomChange,
  { cluster: { transport }, log, kubelet }: LiveNodeOptions,
): Promise<LiveNode> {
  const kernel = createFakeKernel({
    nics: change.models.map((model, at) => withQuirks(models[model](slots[at] ?? slots[0]), change.quirks[at] ?? {})),
    ...({ managesOvs: true, rdmaMode: "shared" } as const),
    ...(change.needsReboots && ({ iommu: "with-argument" } as const)),
  });
  const body = { apiVersion: "v1", kind: "Node", metadata: { name, labels: labelsOfNode(name) } };
  await transport.request({ method: "POST", path: collectionPath(nodeType), body });

  const off = new AbortController();
  let reboots = 0;
  async function runMachine(): Promise<void> {
    while (!off.signal.aborted) {
      const shutdown = new AbortController();
      const poll = setInterval(() => {
        if (kernel.requestedReboots.length > reboots) shutdown.abort();
      }, 5);
      await runDaemon({
        transport,
        namespace,
        nodeName: name,
        maxPfs: 4,
        maxCacheAgeMs: 300_000,
        signal: AbortSignal.any([off.signal, shutdown.signal]),
        host: kernel.host(),
        log: log.child({ node: name }),
        metrics: new Registry(),
        ...(kubelet && { kubelet }),
        setNotReady: () => undefined,
      }).finally(() => {
        clearInterval(poll);
      });
      if (!shutdown.signal.aborted) return;
      reboots = kernel.requestedReboots.length;
      kernel.reboot();
    }
  }
  const running = runMachine();

  return {
    name,
    reboots: () => reboots,
    async [Symbol.asyncDispose]() {
      off.abort();
      await running;
    },
  };
}
