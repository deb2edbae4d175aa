// SPDX-License-Identifier: Apache-2.0
/**
 * A process for tests in e2e: what a node has besides the device plugin, which runs as a process of its own. A fake kubelet, calls of
 * bpfman's daemon, and a pod that receives packets by an AF_XDP socket. It answers each line of its stdin, a Request, with a line of
 * JSON, and ends with its stdin.
 * Usage: `node apps/afxdp-device-plugin/src/testing/node-process.ts KUBELET-DIRECTORY SOCKET-DIRECTORY <requests`.
 */
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import type { PodDevices } from "@switchyard/kubelet";
import { startFakeKubelet } from "@switchyard/kubelet/testing";
import { getLink, NetlinkSocket, protocols } from "@switchyard/netlink";
import { openXdpSocket } from "@switchyard/netlink/testing";
import { createBpfmanClient, type BpfmanLink } from "./bpfman-client.ts";
import { connectMapClient } from "./map-client.ts";

/** One member is there. */
interface Request {
  /** Calls bpfman. */
  readonly load?: { readonly path: string; readonly functionName: string };
  readonly attach?: BpfmanLink & { readonly programId: number };
  readonly detach?: number;
  readonly unload?: number;
  /** Sets the devices of pods in the fake kubelet. */
  readonly pods?: readonly PodDevices[];
  /** Allocates devices. */
  readonly allocate?: { readonly resource: string; readonly ids: readonly string[] };
  /** Returns the last list of the resource. */
  readonly devices?: string;
  /** Gets the map of the device as the pod, and returns the number of packets that its socket received. */
  readonly receive?: { readonly device: string; readonly podName: string; readonly withinMs: number };
}

const [kubeletDirectory = "", socketDirectory = ""] = process.argv.slice(2);
const bpfman = createBpfmanClient("/run/bpfman-sock/bpfman.sock");
await using kubelet = await startFakeKubelet(kubeletDirectory);
kubelet.pods = [];

for await (const line of createInterface({ input: process.stdin })) {
  const answer = await answerTo(JSON.parse(line) as Request).catch((error: unknown) => ({
    error: error instanceof Error ? error.message : String(error),
  }));
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}

async function answerTo(request: Request): Promise<unknown> {
  const { load, attach, detach, unload, pods, allocate, devices, receive } = request;
  if (load !== undefined) return { id: await bpfman.load(load) };
  if (attach !== undefined) return { id: await bpfman.attach(attach.programId, attach) };
  if (detach !== undefined) await bpfman.detach(detach);
  if (unload !== undefined) await bpfman.unload(unload);
  if (pods !== undefined) kubelet.pods = pods;
  if (allocate !== undefined) return kubelet.allocate(allocate.resource, allocate.ids);
  if (devices !== undefined) return kubelet.lists(devices).at(-1) ?? [];
  if (receive !== undefined) return { packets: await countPackets(receive) };
  return {};
}

async function countPackets({ device, podName, withinMs }: NonNullable<Request["receive"]>): Promise<number> {
  using client = connectMapClient(join(socketDirectory, device, "afxdp.sock"));
  for (const [ask, expected] of [
    [`/connect,${podName}`, "/host_ok"],
    [`/xsk_map_fd,${device}`, "/fd_ack"],
  ] as const) {
    const answer = await client.ask(ask);
    if (answer !== expected) throw new Error(`${ask}: ${answer}`);
  }
  const [map] = client.passed;
  if (map === undefined) throw new Error("no map was passed");
  await using links = new NetlinkSocket({ protocol: protocols.route });
  const { index: ifindex } = await getLink(links, device);
  using socket = openXdpSocket({ ifindex, queue: 0, netns: "/proc/self/ns/net" });
  socket.addTo(map);
  const until = performance.now() + withinMs;
  while (performance.now() < until) {
    const { length } = socket.receive();
    if (length > 0) return length;
    await delay(20);
  }
  return 0;
}
