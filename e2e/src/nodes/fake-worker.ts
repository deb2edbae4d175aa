// SPDX-License-Identifier: Apache-2.0
/**
 * FakeWorker is a node of a test cluster: a Node object, a fake kernel in this process, and the config daemon as a
 * process. The daemon can be killed and restarted while the kernel keeps its state.
 */
import {
  createFakeKernel,
  serveFakeKernel,
  type FakeKernel,
  type FakeKernelOptions,
  type FakeNic,
} from "@switchyard/host/testing";
import {
  createNode,
  createOperatorConfig,
  silentNarrator,
  startTestCluster,
  logNodeChanges,
  type NodeLog,
  type TestCluster,
} from "@switchyard/test-cluster";
import type { GuardedProcess } from "@switchyard/testing";
import { join } from "node:path";

/** The node. Disposing it ends the daemon and the fake kernel. */
export interface FakeWorker extends AsyncDisposable {
  readonly kernel: FakeKernel;
  /** The last daemon that was started. */
  readonly daemon: GuardedProcess;
  /** Starts a daemon with additional flags. The previous daemon must have been killed. */
  startDaemon(flags?: readonly string[]): void;
}

/** A test cluster and its watches. Disposing it ends both. */
export interface WatchedCluster extends AsyncDisposable {
  readonly testCluster: TestCluster;
  readonly news: NodeLog;
}

/** Creates the Node object and the fake kernel, of which the NICs or all options are given. It does not start the daemon. */
export async function createWorker(
  testCluster: TestCluster,
  name: string,
  hardware: readonly FakeNic[] | FakeKernelOptions,
): Promise<FakeWorker> {
  const kernel = createFakeKernel("nics" in hardware ? hardware : { nics: hardware });
  const socket = join(testCluster.directory, `${name}.sock`);
  const server = await serveFakeKernel(kernel, socket);
  await createNode(testCluster, name);
  let daemon: GuardedProcess | undefined;

  return {
    kernel,
    get daemon() {
      if (daemon === undefined) throw new Error(`the daemon of ${name} was not started`);
      return daemon;
    },
    startDaemon(flags = []) {
      const args = ["--node-name", name, "--kernel-socket", socket, ...flags];
      daemon = testCluster.start(name, "apps/config-daemon/src/testing/fake-node.ts", args);
    },
    async [Symbol.asyncDispose]() {
      await daemon?.kill();
      await server[Symbol.asyncDispose]();
    },
  };
}

/**
 * startWatchedCluster starts a test cluster with a SriovOperatorConfig and watches its node states and policies. Rejects if the
 * cluster cannot be started.
 */
export async function startWatchedCluster(): Promise<WatchedCluster> {
  const testCluster = await startTestCluster(silentNarrator);
  await createOperatorConfig(testCluster);
  const news = testCluster.use(logNodeChanges(testCluster.transport, silentNarrator));
  return { testCluster, news, [Symbol.asyncDispose]: () => testCluster[Symbol.asyncDispose]() };
}
