// SPDX-License-Identifier: Apache-2.0
/**
 * startVfNode starts a node whose pods get VFs: the config daemon on a fake kernel, device-plugin-config, and in the place of kubelet and
 * device plugin a simulation. Like the kubelet, it counts the devices of each resource alone: it gives a VF of a resource to a pod
 * unless another pod has it as a device of the same resource.
 * Usage: `const node = testCluster.use(await startVfNode(testCluster, { node: "worker-1", kernel, tell }));`
 */
import { pods as podType } from "@switchyard/api";
import { isKubeError, objectPath, watchObjects, type KubeObject } from "@switchyard/kube";
import { startFakeKubelet } from "@switchyard/kubelet/testing";
import type { GuardedProcess } from "@switchyard/testing";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createNode } from "./cluster-objects.ts";
import { removedText, startedText, type PodChange } from "./fake-kubelet.ts";
import type { TestCluster } from "./test-cluster.ts";

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
  /** Called for each pod that runs or is gone. */
  readonly tell?: (change: PodChange) => void;
}

/** The fields of a pod in use. */
interface Pod extends KubeObject {
  readonly spec?: {
    readonly nodeName?: string;
    readonly containers?: readonly { readonly resources?: { readonly requests?: Readonly<Record<string, string>> } }[];
  };
  readonly status?: { readonly phase?: string };
}

const prefix = "openshift.io/";

/** How often the plugin looks at its configuration. */
const restartMs = 50;

/** Creates the Node, and starts its programs. */
export async function startVfNode(testCluster: TestCluster, { node, kernel, tell }: VfNodeOptions): Promise<VfNode> {
  const { transport, directory } = testCluster;
  const stack = new AsyncDisposableStack();
  await createNode(testCluster, node);
  const root = join(directory, node);
  const kubeletDirectory = join(root, "var/lib/kubelet");
  const bootDirectory = join(root, "proc/sys/kernel/random");
  await mkdir(bootDirectory, { recursive: true });
  // The only file of the host's file system that device-plugin-config needs is the boot id: a fake kernel has no sysfs.
  await writeFile(join(bootDirectory, "boot_id"), `${kernel.bootId}\n`);
  const kubelet = stack.use(await startFakeKubelet(kubeletDirectory));
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

  /** Device and resource of each pod. */
  const given = new Map<string, { readonly pod: Pod; readonly resource: string; readonly vf: string }>();
  const vfsOf = new Map<string, string>();
  const sharedVfs = new Set<string>();
  const offered = new Map<string, readonly string[]>();
  const pods = stack.use(
    watchObjects({
      transport,
      type: podType,
      fieldSelector: `spec.nodeName=${node}`,
      report: () => undefined,
      project: (pod: Pod) => pod,
    }),
  );

  function give(pod: Pod): boolean {
    const requests = (pod.spec?.containers ?? []).flatMap(({ resources }) => Object.keys(resources?.requests ?? {}));
    const resource = requests.find((name) => name.startsWith(prefix));
    if (resource === undefined || given.has(pod.metadata.uid ?? "")) return true;
    const taken = new Set([...given.values()].flatMap((one) => (one.resource === resource ? [one.vf] : [])));
    const vf = (offered.get(resource.slice(prefix.length)) ?? []).find((address) => !taken.has(address));
    if (vf === undefined) return false;
    if ([...given.values()].some((one) => one.vf === vf)) sharedVfs.add(vf);
    given.set(pod.metadata.uid ?? "", { pod, resource, vf });
    vfsOf.set(pod.metadata.name, vf);
    showPods();
    return true;
  }

  function showPods(): void {
    kubelet.pods = [...given.values()].map(({ pod: { metadata }, resource, vf }) => {
      const devices = [{ resourceName: resource, ids: [vf] }];
      return { name: metadata.name, namespace: metadata.namespace ?? "", containers: [{ name: "app", devices }] };
    });
  }

  const ended = new Set<string | undefined>();
  async function act(pod: Pod): Promise<void> {
    const { name, uid = "", deletionTimestamp } = pod.metadata;
    if (ended.has(uid)) return;
    if (deletionTimestamp !== undefined) {
      ended.add(uid);
      given.delete(uid);
      vfsOf.delete(name);
      showPods();
      const body = { apiVersion: "v1", kind: "DeleteOptions", gracePeriodSeconds: 0, preconditions: { uid } };
      await unlessGone(transport.request({ method: "DELETE", path: objectPath(podType, pod.metadata), body }));
      tell?.({ node, text: removedText(name) });
    } else if (pod.status?.phase !== "Running" && give(pod)) {
      const body = { status: { phase: "Running", conditions: [{ type: "Ready", status: "True" }] } };
      const path = objectPath(podType, pod.metadata, "status");
      await unlessGone(transport.request({ method: "PATCH", path, contentType: "application/merge-patch+json", body }));
      const vf = vfsOf.get(name);
      tell?.({ node, text: startedText(name, vf) });
    }
  }

  pods.subscribe(({ after }) => {
    if (after !== undefined) void act(after);
  });
  let text = "";
  async function restartPlugin(): Promise<void> {
    const next = await readFile(configFile, "utf8").catch(() => "");
    if (next === text) return;
    text = next;
    const { resourceList } = JSON.parse(text) as PluginConfig;
    offered.clear();
    for (const { resourceName, selectors } of resourceList) offered.set(resourceName, selectors.pciAddresses);
    kubelet.offered = [...offered].map(([name, ids]) => ({ resourceName: `${prefix}${name}`, ids }));
    const registered = Object.fromEntries(kubelet.offered.map(({ resourceName, ids }) => [resourceName, ids]));
    await writeFile(checkpoint, JSON.stringify({ Data: { RegisteredDevices: registered } }));
    for (const pod of pods.list()) void act(pod);
  }
  const timer = setInterval(() => void restartPlugin(), restartMs);
  stack.defer(() => {
    clearInterval(timer);
  });
  const disposable = stack.move();
  return { daemon, startDaemon, vfsOf, sharedVfs, offered, [Symbol.asyncDispose]: () => disposable.disposeAsync() };
}

interface PluginConfig {
  readonly resourceList: readonly {
    readonly resourceName: string;
    readonly selectors: { readonly pciAddresses: readonly string[] };
  }[];
}

async function unlessGone(request: Promise<unknown>): Promise<void> {
  try {
    await request;
  } catch (error) {
    if (!isKubeError(error, "NotFound", "Conflict")) throw error;
  }
}
