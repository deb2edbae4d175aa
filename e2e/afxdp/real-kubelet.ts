// SPDX-License-Identifier: Apache-2.0
/**
 * createRealKubelet prepares a real kubelet, with containerd, in the namespaces of a node. It has no API server: its pods are files.
 * There are no images, so the pods get their devices and do not start.
 */
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { goPrograms } from "@switchyard/go-programs";
import type { PluginNode } from "./plugin-node.ts";

export const kubeletDirectory = "/var/lib/kubelet";

export interface RealKubelet extends AsyncDisposable {
  start(): void;
  /** Kills the kubelet. */
  stop(): Promise<void>;
  /** Returns the devices of a resource that the kubelet has written to its checkpoint; undefined before. */
  registered(resource: string): Promise<readonly string[] | undefined>;
  /** Adds a pod with one device. */
  addPod(name: string, resource: string): Promise<void>;
  /** Deletes the checkpoint, so that registered() waits for the next one. Only without pods. */
  forget(): Promise<void>;
}

const directory = "/run/node";
const setup = `mount -t tmpfs tmpfs /var/lib; mount -t tmpfs tmpfs /run; mount -t cgroup2 cgroup2 /sys/fs/cgroup
mkdir -p ${directory}/pods; ip link set lo up`;

const settings = {
  apiVersion: "kubelet.config.k8s.io/v1beta1",
  kind: "KubeletConfiguration",
  cgroupsPerQOS: false,
  enforceNodeAllocatable: [],
  cgroupDriver: "cgroupfs",
  failSwapOn: false,
  authentication: { anonymous: { enabled: true }, webhook: { enabled: false } },
  authorization: { mode: "AlwaysAllow" },
  staticPodPath: `${directory}/pods`,
  fileCheckFrequency: "1s",
  localStorageCapacityIsolation: false,
  containerRuntimeEndpoint: "unix:///run/containerd/containerd.sock",
};

/** Call it before the plugin of the node writes to /var/lib or /run. */
export async function createRealKubelet(node: PluginNode): Promise<RealKubelet> {
  const { host } = node;
  const [kubelet, containerd] = [await goPrograms("kubelet"), await goPrograms("containerd")];
  await host.run("sh", "-ec", setup);
  const at = (path: string): string => join(host.root, path);
  await writeFile(at(`${directory}/kubelet.yaml`), JSON.stringify(settings));
  const runtime = node.start(join(containerd, "containerd"), []);
  runtime.stderr?.resume();
  const checkpoint = at(`${kubeletDirectory}/device-plugins/kubelet_internal_checkpoint`);
  let running: ChildProcess | undefined;

  async function stop(): Promise<void> {
    if (running === undefined) return;
    running.kill("SIGKILL");
    await once(running, "exit");
    running = undefined;
  }

  return {
    start() {
      const args = ["--config", `${directory}/kubelet.yaml`, "--hostname-override", "node-1"];
      running = node.start(join(kubelet, "kubelet"), args);
      running.stderr?.resume();
    },
    stop,
    async registered(resource) {
      const text = await readFile(checkpoint, "utf8").catch(() => "{}");
      const { Data } = JSON.parse(text) as { Data?: { RegisteredDevices?: Record<string, string[]> } };
      return Data?.RegisteredDevices?.[resource]?.toSorted();
    },
    async addPod(name, resource) {
      const resources = { requests: { [resource]: "1" }, limits: { [resource]: "1" } };
      const pod = {
        apiVersion: "v1",
        kind: "Pod",
        metadata: { name, namespace: "default" },
        spec: { hostNetwork: true, containers: [{ name: "app", image: "registry.test/none", resources }] },
      };
      await writeFile(at(`${directory}/pods/${name}.json`), JSON.stringify(pod));
    },
    forget: () => rm(checkpoint, { force: true }),
    async [Symbol.asyncDispose]() {
      await stop();
      runtime.kill("SIGKILL");
      await once(runtime, "exit");
    },
  };
}
