// SPDX-License-Identifier: Apache-2.0
/**
 * createNativeDaemon runs the config daemon on the fake kernel, as a process of this machine. The fake kernel answers
 * at once and records the time of each write.
 */
import { createFakeKernel, serveFakeKernel, type FakeNic } from "@switchyard/host/testing";
import { memoryFlags, mallocVariables } from "@switchyard/service/memory";
import { join } from "node:path";
import type { BenchCluster } from "../harness/bench-cluster.ts";
import { bundleProgram } from "../harness/measured-process.ts";
import { createMeasuredService } from "../harness/measured-service.ts";
import type { Run } from "../harness/run-control.ts";
import { createNodeUnderTest, nodeUnderTest, type DaemonUnderTest } from "./node-under-test.ts";

export interface NativeDaemonOptions {
  readonly cluster: BenchCluster;
  readonly run: Run;
  readonly nics: readonly FakeNic[];
  readonly cpuProf: string | undefined;
}

export async function createNativeDaemon(options: NativeDaemonOptions): Promise<DaemonUnderTest> {
  const { cluster, run, nics, cpuProf } = options;
  await using parts = new AsyncDisposableStack();
  const kernel = createFakeKernel({ nics });
  const socket = join(cluster.directory, "kernel.sock");
  const script = await bundleProgram("apps/config-daemon/src/testing/fake-node.ts");
  parts.use(await serveFakeKernel(kernel, socket));
  const node = parts.use(await createNodeUnderTest(cluster, run));
  const user = await cluster.user("daemon");
  const { name, namespace } = nodeUnderTest;
  const service = parts.use(
    createMeasuredService({
      script,
      nodeFlags: memoryFlags,
      env: mallocVariables, // as in the image
      pod: user.pod,
      args: ["--namespace", namespace, "--node-name", name, "--kernel-socket", socket],
      log: join(cluster.directory, "daemon.log"),
      fail: run.fail,
      cpuProf,
    }),
  );

  const owned = parts.move();
  return {
    node,
    requests: user.requests,
    start: () => service.start(run.signal),
    stop: () => service.stop(),
    stopSeconds: service.stopSeconds,
    read: () => Promise.resolve(service.read()),
    logEnd: () => service.logEnd(),
    vfIdentity: () => Promise.resolve(String(kernel.writes.filter(({ method }) => method === "setNumVfs").length)),
    slowDown(delayMs) {
      kernel.fault({ port: "sriov", method: "setNumVfs" }, { delayMs });
    },
    // The fake kernel runs in this process and uses the same clock.
    firstWriteMs: (sinceMs) =>
      kernel.writes.find(({ port, startedMs }) => port !== "records" && startedMs >= sinceMs)?.startedMs,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
