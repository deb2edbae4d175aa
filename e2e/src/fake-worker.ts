// SPDX-License-Identifier: Apache-2.0
/**
 * A node of a test cluster: its Node object, its fake kernel in this process, and its daemon as a process that can be
 * killed and started again while the kernel lives on.
 * Usage: `await using worker = await createWorker(testCluster, "worker-1", [igb("0000:01:00.0")]); await worker.daemon.kill();`
 */
import { createNode, type TestCluster } from "@switchyard/test-cluster";
import { createFakeKernel, serveFakeKernel, type FakeKernel, type FakeNic } from "@switchyard/host/testing";
import type { GuardedProcess } from "@switchyard/testing";
import { join } from "node:path";

export interface FakeWorker extends AsyncDisposable {
  readonly kernel: FakeKernel;
  /** The daemon that was started last. */
  readonly daemon: GuardedProcess;
  /** Starts a daemon, with flags of its own; to be called after the one before was killed. */
  startDaemon(flags?: readonly string[]): void;
}

/** Registers the node; its daemon is not started yet. */
export async function createWorker(
  testCluster: TestCluster,
  name: string,
  nics: readonly FakeNic[],
): Promise<FakeWorker> {
  const kernel = createFakeKernel({ nics });
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
