// SPDX-License-Identifier: Apache-2.0
/**
 * startVfNode starts a node whose pods get VFs: the config daemon on a fake kernel, device-plugin-config and, if asked for, the driver of
 * ResourceClaims. In the place of kubelet and device plugin there is a simulation.
 * Usage: `const node = testCluster.use(await startVfNode(testCluster, { node: "worker-1", kernel, tell }));`
 */
import { startFakeKubelet } from "@switchyard/kubelet/testing";
import type { GuardedProcess } from "@switchyard/testing";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createNode } from "../cluster-objects.ts";
import { socketParent, type TestCluster } from "../test-cluster.ts";
import type { PodChange } from "./fake-kubelet.ts";
import { createNodeClaims } from "./node-claims.ts";
import { startVfKubelet } from "./vf-kubelet.ts";

export interface VfNode extends AsyncDisposable {
  /** The config daemon. */
  readonly daemon: GuardedProcess;
  /** Starts the daemon again, after it was killed. */
  startDaemon(): GuardedProcess;
  /** PCI addresses of the VFs of each pod, by its name. */
  readonly vfsOf: ReadonlyMap<string, string>;
  /** PCI addresses that two pods had at once. */
  readonly sharedVfs: ReadonlySet<string>;
  /** PCI addresses of the VFs that the plugin offers, by resource without prefix. */
  readonly offered: ReadonlyMap<string, readonly string[]>;
}

/** A fake kernel of @switchyard/host, on which this package does not depend. */
export interface NodeKernel {
  readonly bootId: string;
  /** Serves the kernel at the socket until the result is disposed. */
  serve(socket: string): Promise<AsyncDisposable>;
}

export interface VfNodeOptions {
  readonly node: string;
  readonly kernel: NodeKernel;
  /** Also starts the driver of ResourceClaims, and tells the scheduler how many VFs the plugin offers. */
  readonly hasClaims?: boolean;
  /** Called for each pod that runs, waits for its claims or is gone. */
  readonly tell?: (change: PodChange) => void;
}

/** How often the plugin looks at its configuration. */
const restartMs = 50;

/** Creates the Node, and starts its programs. */
export async function startVfNode(
  testCluster: TestCluster,
  { node, kernel, hasClaims = false, tell }: VfNodeOptions,
): Promise<VfNode> {
  const { transport, directory } = testCluster;
  const stack = new AsyncDisposableStack();
  await createNode(testCluster, node);
  // The path of the driver's registration socket has 79 bytes below it.
  const root = await mkdtemp(join(socketParent(tmpdir()), "vf-"));
  // After the programs of the node have ended, which write to it.
  testCluster.use({ [Symbol.asyncDispose]: () => rm(root, { recursive: true, force: true }) });
  const kubeletDirectory = join(root, "var/lib/kubelet");
  const bootDirectory = join(root, "proc/sys/kernel/random");
  await mkdir(bootDirectory, { recursive: true });
  // The only file of the host's file system that device-plugin-config needs is the boot id: a fake kernel has no sysfs.
  await writeFile(join(bootDirectory, "boot_id"), `${kernel.bootId}\n`);
  const answers = stack.use(await startFakeKubelet(kubeletDirectory));
  /** What the kubelet has registered. */
  const checkpoint = join(kubeletDirectory, "device-plugins/kubelet_internal_checkpoint");
  const socket = join(directory, `${node}.sock`);
  stack.use(await kernel.serve(socket));

  const configFile = join(root, "plugin.json");
  const onNode = ["--node-name", node, "--host-root", root];
  const startDaemon = (): GuardedProcess =>
    testCluster.start(node, "apps/config-daemon/src/testing/fake-node.ts", [...onNode, "--kernel-socket", socket]);
  const daemon = startDaemon();
  testCluster.start(`${node}-device-plugin-config`, "apps/device-plugin-config/src/main.ts", [
    ...onNode,
    ...["--config-file", configFile, "--kubelet-directory", kubeletDirectory],
    ...["--block-until-configured=false", "--plugin-process", `no-plugin-${node}`],
  ]);

  if (hasClaims) {
    testCluster.start(`${node}-dra-driver`, "apps/dra-driver/src/testing/fake-node.ts", [
      ...["--node-name", node, "--kernel-socket", socket, "--kubelet-directory", kubeletDirectory],
    ]);
  }
  const claims = hasClaims ? createNodeClaims(transport, kubeletDirectory) : undefined;
  const kubelet = stack.use(startVfKubelet({ transport, node, answers, claims, tell }));
  let text = "";
  async function restartPlugin(): Promise<void> {
    const next = await readFile(configFile, "utf8").catch(() => "");
    if (next === text) return;
    text = next;
    const { resourceList } = JSON.parse(text) as PluginConfig;
    // A resource without VFs has the selector "none".
    const offered = resourceList.map(({ resourceName, selectors }): readonly [string, readonly string[]] => {
      return [resourceName, selectors.pciAddresses.filter((address) => address !== "none")];
    });
    await kubelet.offer(new Map(offered));
    const registered = Object.fromEntries(answers.offered.map(({ resourceName, ids }) => [resourceName, ids]));
    await writeFile(checkpoint, JSON.stringify({ Data: { RegisteredDevices: registered } }));
  }
  const timer = setInterval(() => void restartPlugin(), restartMs);
  stack.defer(() => {
    clearInterval(timer);
  });
  const disposable = stack.move();
  return {
    daemon,
    startDaemon,
    vfsOf: kubelet.vfsOf,
    sharedVfs: kubelet.sharedVfs,
    get offered() {
      return kubelet.offered;
    },
    [Symbol.asyncDispose]: () => disposable.disposeAsync(),
  };
}

interface PluginConfig {
  readonly resourceList: readonly {
    readonly resourceName: string;
    readonly selectors: { readonly pciAddresses: readonly string[] };
  }[];
}
