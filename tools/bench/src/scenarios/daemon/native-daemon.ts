// SPDX-License-Identifier: Apache-2.0
/**
 * createNativeDaemon runs the config daemon on the fake kernel, as a process of this machine. The fake kernel answers
 * at once and records the time of each write.
 */
import { createFakeKernel, serveFakeKernel, type FakeNic } from "@switchyard/host/testing";
import { memoryFlags, mallocVariables } from "@switchyard/service/memory";
import { join } from "node:path";
import type { BenchCluster } from "../../cluster/bench-cluster.ts";
import type { Run } from "../../harness/run.ts";
import { bundleProgram } from "../../harness/service.ts";
import { createNodeUnderTest, nodeUnderTest, type DaemonUnderTest } from "./node-under-test.ts";

export interface NativeDaemonOptions {
  readonly nics: readonly FakeNic[];
  readonly cpuProf: string | undefined;
}

/** It does not run yet. */
export async function createNativeDaemon(
  run: Run,
  cluster: BenchCluster,
  { nics, cpuProf }: NativeDaemonOptions,
): Promise<DaemonUnderTest> {
  const kernel = createFakeKernel({ nics });
  const socket = join(cluster.directory, "kernel.sock");
  const script = await bundleProgram("apps/config-daemon/src/testing/fake-node.ts");
  run.use(await serveFakeKernel(kernel, socket));
  const node = await createNodeUnderTest(run, cluster);
  const { name, namespace } = nodeUnderTest;
  const service = await cluster.service("daemon", {
    script,
    nodeFlags: memoryFlags,
    env: mallocVariables, // as in the image
    args: ["--namespace", namespace, "--node-name", name, "--kernel-socket", socket],
    cpuProf,
  });
  return {
    ...service,
    node,
    start: () => service.start(run.signal),
    vfIdentity: () => Promise.resolve(String(kernel.writes.filter(({ method }) => method === "setNumVfs").length)),
    slowDown(delayMs) {
      kernel.fault({ port: "sriov", method: "setNumVfs" }, { delayMs });
    },
    // The fake kernel runs in this process and uses the same clock.
    firstWriteMs: (sinceMs) =>
      kernel.writes.find(({ port, startedMs }) => port !== "records" && startedMs >= sinceMs)?.startedMs,
  };
}
