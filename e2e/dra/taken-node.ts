// SPDX-License-Identifier: Apache-2.0
/**
 * startTakenNode starts a node of a cluster that is taken over: VFs on a fake kernel, the sockets of a kubelet, and on request the
 * config daemon and device-plugin-config. Its kubelet starts and ends the pods that the scheduler has placed. A pod with the image of this
 * product's driver is a driver that runs in this process; all other pods do nothing.
 */
import { serveNode } from "@switchyard/dra-driver/serve-node";
import { createFakeKernel, igb, pci, serveFakeKernel } from "@switchyard/host/testing";
import { startFakeKubelet, type FakeKubelet } from "@switchyard/kubelet/testing";
import { Registry } from "@switchyard/service";
import { silentLogger } from "@switchyard/service/testing";
import { namespace, type TestCluster } from "@switchyard/test-cluster";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createNodePods } from "./node-pods.ts";

/** The PF of each node. */
export const pf = pci("0000:01:00.0");

export interface TakenNode extends AsyncDisposable {
  readonly name: string;
  /** PCI addresses. */
  readonly vfs: readonly string[];
  readonly kubelet: FakeKubelet;
  /** Starts the config daemon and device-plugin-config as processes of the cluster. */
  startPrograms(): void;
  /** Starts pods that have been placed, and removes pods that have been deleted. Rejects with KubeError. */
  runPods(): Promise<void>;
  /** Returns the VFs in the configuration of the device plugin, which offers at most these. */
  offeredByPlugin(): Promise<ReadonlySet<string>>;
}

export interface TakenNodeOptions {
  readonly testCluster: TestCluster;
  readonly name: string;
  readonly numVfs: number;
  /** Image of this product's driver. */
  readonly driverImage: string;
}

export async function startTakenNode({ testCluster, name, numVfs, driverImage }: TakenNodeOptions): Promise<TakenNode> {
  const stack = new AsyncDisposableStack();
  const { transport } = testCluster;
  const kernel = createFakeKernel({ nics: [igb(pf)] });
  const host = kernel.host();
  await host.modules.load("igbvf");
  await host.sriov.setNumVfs(pf, numVfs);
  const vfs = ((await host.sriov.readPf(pf))?.sriov?.vfs ?? []).map(({ pciAddress }) => pciAddress);

  // Short: the path of the registration socket below it may have 107 characters.
  const root = await mkdtemp(join(tmpdir(), "dra-"));
  stack.defer(() => rm(root, { recursive: true, force: true }));
  const bootDirectory = join(root, "proc/sys/kernel/random");
  await mkdir(bootDirectory, { recursive: true });
  await writeFile(join(bootDirectory, "boot_id"), `${await host.boot.readBootId()}\n`);
  const configFile = join(root, "plugin.json");
  const kernelSocket = join(testCluster.directory, `${name}.sock`);
  stack.use(await serveFakeKernel(kernel, kernelSocket));
  const directory = join(root, "var/lib/kubelet");
  const kubelet = stack.use(await startFakeKubelet(directory));
  const pods = createNodePods(transport, name);
  const drivers = new Map<string, () => Promise<void>>();
  stack.defer(async () => {
    for (const stop of drivers.values()) await stop();
  });

  function startDriver(): () => Promise<void> {
    const end = new AbortController();
    const serving = serveNode({
      ...{ transport, namespace, nodeName: name, resourcePrefix: "openshift.io", host },
      kubelet: { directory, onHost: directory },
      ...{ maxCacheAge: 60_000, log: silentLogger, metrics: new Registry(), setNotReady: () => undefined },
      signal: end.signal,
    });
    return async () => {
      end.abort();
      await serving;
    };
  }

  return {
    ...{ name, vfs, kubelet },
    startPrograms() {
      const onNode = ["--node-name", name, "--host-root", root];
      const daemon = "apps/config-daemon/src/testing/fake-node.ts";
      testCluster.start(name, daemon, [...onNode, "--kernel-socket", kernelSocket]);
      testCluster.start(`${name}-device-plugin-config`, "apps/device-plugin-config/src/main.ts", [
        ...onNode,
        ...["--config-file", configFile, "--kubelet-directory", directory],
        ...["--block-until-configured=false", "--plugin-process", "no-plugin"],
      ]);
    },
    async runPods() {
      for (const pod of await pods.list()) {
        const { uid, deletionTimestamp } = pod.metadata;
        if (deletionTimestamp !== undefined) {
          await drivers.get(uid)?.();
          drivers.delete(uid);
          await pods.remove(pod);
        } else if (pod.status.phase === "Pending") {
          if (pod.spec.containers.some(({ image }) => image === driverImage)) drivers.set(uid, startDriver());
          await pods.start(pod);
        }
      }
    },
    async offeredByPlugin() {
      const text = await readFile(configFile, "utf8").catch(() => '{"resourceList":[]}');
      const { resourceList } = JSON.parse(text) as {
        readonly resourceList: readonly { readonly selectors: { readonly pciAddresses?: readonly string[] } }[];
      };
      const selected = resourceList.flatMap(({ selectors }) => selectors.pciAddresses ?? []);
      return new Set(selected.filter((address) => address !== "none")); // of a resource without VFs
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}
