// SPDX-License-Identifier: Apache-2.0
/**
 * createNamespaceCluster is a PodClient whose pods are network namespaces of this machine, with a Linux bridge for
 * each VLAN. It plays the kubelet and the CNI plugins, and runs the command of each pod as it is, without capabilities.
 */
import { createNetworkNamespace, type NetworkNamespace } from "@switchyard/netlink/testing";
import { spawn, type ChildProcess } from "node:child_process";
import type { JsonObject } from "../../json.ts";
import type { PodClient, VerifyPod } from "../pod-client.ts";

/** Changes what the "CNI plugin" has set up. */
export type Fault = (pod: {
  /** Number of the pod, from 0: the order in which pods are created. */
  readonly index: number;
  readonly address: string;
  /** Runs ip in the pod. */
  readonly ip: (...words: readonly string[]) => Promise<string>;
  /** Puts the pod's port into a VLAN. */
  readonly setVlan: (vlan: number) => Promise<void>;
}) => Promise<unknown>;

export interface NamespaceCluster extends PodClient, AsyncDisposable {
  /** Names of the pods that exist. */
  names(): readonly string[];
}

interface RunningPod {
  readonly pod: VerifyPod;
  readonly namespace: NetworkNamespace;
  readonly program: ChildProcess;
  readonly address: string;
  log: string;
}

/** `vlans` are those of the networks by name. */
export async function createNamespaceCluster(
  vlans: Readonly<Record<string, number>>,
  fault: Fault = () => Promise.resolve(),
): Promise<NamespaceCluster> {
  const node = await createNetworkNamespace();
  for (const vlan of Object.values(vlans)) {
    await node.run("ip", "link", "add", `vlan${vlan}`, "type", "bridge");
    await node.run("ip", "link", "set", `vlan${vlan}`, "up");
  }
  const pods = new Map<string, RunningPod>();
  let count = 0;

  async function remove(name: string): Promise<void> {
    const running = pods.get(name);
    pods.delete(name);
    if (running === undefined) return;
    running.program.kill("SIGKILL");
    await running.namespace[Symbol.asyncDispose]();
  }

  return {
    names: () => [...pods.keys()],
    async create(pod) {
      const index = count++;
      const namespace = await createNetworkNamespace();
      const [address, port] = [`192.168.78.${index + 2}`, `port${index}`];
      const ip = (...words: readonly string[]): Promise<string> => namespace.run("ip", ...words);
      await node.run("ip", "link", "add", port, "type", "veth", "peer", "name", "net1", "netns", namespace.path);
      const setVlan = async (vlan: number): Promise<void> => {
        await node.run("ip", "link", "set", port, "master", `vlan${vlan}`, "up");
      };
      await setVlan(vlans[networkOf(pod)] ?? 1);
      await ip("link", "set", "lo", "up");
      await ip("address", "add", `${address}/24`, "dev", "net1");
      await ip("link", "set", "net1", "up");
      await fault({ index, address, ip, setVlan });
      const program = start(pod, namespace);
      const running: RunningPod = { pod, namespace, program, address, log: "" };
      program.stdout?.on("data", (text: Buffer) => (running.log += text.toString()));
      pods.set(pod.metadata.name, running);
    },
    list: (home, run) => {
      const found = [...pods.values()].filter(({ pod: { metadata } }) => {
        return metadata.namespace === home && (run === undefined || metadata.labels["switchyard.io/verify"] === run);
      });
      return Promise.resolve(found.map(podOf));
    },
    log: ({ name }) => Promise.resolve(pods.get(name)?.log ?? ""),
    events: () => Promise.resolve([]),
    delete: ({ name }) => remove(name),
    nodeState: () => Promise.resolve(undefined),
    async [Symbol.asyncDispose]() {
      for (const name of [...pods.keys()]) await remove(name);
      await node[Symbol.asyncDispose]();
    },
  };
}

/** Runs the command of the pod's container, as the kubelet understands it. */
function start(pod: VerifyPod, { path }: NetworkNamespace): ChildProcess {
  const [container] = pod.spec.containers;
  const [, ...args] = container?.command ?? [];
  const [variable] = container?.env ?? [];
  const enter = [`--net=${path}`, `--mount=${path.replace(/net$/, "mnt")}`];
  const withoutRights = ["setpriv", "--bounding-set=-all", "--inh-caps=-all", "--no-new-privs"];
  const program = spawn("nsenter", [...enter, ...withoutRights, process.execPath, ...args.map(expanded)], {
    env: { [variable?.name ?? ""]: expanded(variable?.value ?? "") },
    stdio: ["ignore", "pipe", "inherit"],
  });
  program.on("error", () => undefined);
  return program;
}

/** Kubernetes reads $$ as $. */
function expanded(text: string): string {
  return text.replaceAll("$$", "$");
}

/** "blue" */
function networkOf({ metadata }: VerifyPod): string {
  const [network] = JSON.parse(Object.values(metadata.annotations).join("")) as { readonly name: string }[];
  return network?.name ?? "";
}

function podOf({ pod, program, address }: RunningPod): JsonObject {
  const { name, namespace } = pod.metadata;
  const entry = { name: `${namespace}/${networkOf(pod)}`, interface: "net1", ips: [address] };
  const annotations = { "k8s.v1.cni.cncf.io/network-status": JSON.stringify([entry]) };
  const hasEnded = program.exitCode !== null;
  const startTime = "2026-11-28T10:00:00Z";
  const state = hasEnded ? { terminated: { reason: "Completed" } } : { running: {} };
  return {
    metadata: { name, namespace, annotations },
    spec: { nodeName: "w1" },
    status: { phase: hasEnded ? "Succeeded" : "Running", startTime, containerStatuses: [{ name: "probe", state }] },
  };
}
