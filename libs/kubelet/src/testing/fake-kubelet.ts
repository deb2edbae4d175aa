// SPDX-License-Identifier: Apache-2.0
/**
 * startFakeKubelet is what a device plugin sees of the kubelet: real gRPC on the sockets in `directory`. Like the kubelet, it removes
 * the sockets of all plugins at its start.
 * Usage: `await using kubelet = await startFakeKubelet(directory); await kubelet.until("afxdp/intel", (ids) => ids?.length === 2);`
 */
import { Client, credentials, status, type ClientReadableStream, type sendUnaryData } from "@grpc/grpc-js";
import { mkdir, readdir, rm, utimes } from "node:fs/promises";
import { uptime } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { callGrpc, serveGrpc, type Empty } from "../grpc/grpc.ts";
import {
  devicePluginMethods,
  registerMethod,
  type ContainerAllocation,
  type PluginDevice,
  type Registration,
} from "../device-plugin-messages.ts";
import {
  allocatableResourcesMethod,
  listPodResourcesMethod,
  type PodDevices,
  type ResourceDevices,
} from "../pod-resources-messages.ts";

export interface FakeKubelet extends AsyncDisposable {
  /** What the pod resources API lists. It also lists the devices that plugins announce. If it is set to undefined, the API fails. */
  pods: readonly PodDevices[] | undefined;
  /** Healthy devices beside those that plugins announce to it. */
  offered: readonly ResourceDevices[];
  /** Number of calls of the pod resources API so far. */
  readonly calls: { readonly list: number; readonly allocatable: number };
  readonly registrations: readonly Registration[];
  /** Resolves when the list of a resource fulfils the condition, with the list. It is undefined after the plugin has gone. */
  until(
    resource: string,
    condition: (devices: readonly PluginDevice[] | undefined) => boolean,
  ): Promise<readonly PluginDevice[]>;
  /** All lists of a resource so far. */
  lists(resource: string): readonly (readonly PluginDevice[])[];
  allocate(resource: string, devices: readonly string[]): Promise<ContainerAllocation>;
  prefer(resource: string, available: readonly string[], count: number): Promise<readonly string[]>;
}

/** How the kubelet starts. */
export interface FakeKubeletOptions {
  /** Whether it has just started; by default, it has been running for an hour, as its socket says. */
  readonly isNew?: boolean;
}

export async function startFakeKubelet(
  directory: string,
  { isNew = false }: FakeKubeletOptions = {},
): Promise<FakeKubelet> {
  const calls = { list: 0, allocatable: 0 };
  const plugins = join(directory, "device-plugins");
  const registrations: Registration[] = [];
  const lists = new Map<string, (readonly PluginDevice[])[]>();
  const present = new Map<string, readonly PluginDevice[]>();
  const clients: Client[] = [];
  for (const name of ["device-plugins", "pod-resources"]) await mkdir(join(directory, name), { recursive: true });
  for (const name of await readdir(plugins)) await rm(join(plugins, name), { recursive: true, force: true });

  function follow({ endpoint, resourceName }: Registration): void {
    const client = new Client(`unix:${join(plugins, endpoint)}`, credentials.createInsecure(), {
      "grpc.use_local_subchannel_pool": 1, // otherwise the state of a socket that was deleted is remembered
    });
    clients.push(client);
    const { path, requestSerialize, responseDeserialize } = devicePluginMethods.listAndWatch;
    const stream: ClientReadableStream<readonly PluginDevice[]> = client.makeServerStreamRequest(
      ...([path, requestSerialize, responseDeserialize, {}] as const),
    );
    stream.on("data", (devices: readonly PluginDevice[]) => {
      lists.set(resourceName, [...(lists.get(resourceName) ?? []), devices]);
      present.set(resourceName, devices);
    });
    stream.on("error", () => present.delete(resourceName));
    stream.on("end", () => present.delete(resourceName));
  }

  const registry = await serveGrpc({
    path: join(plugins, "kubelet.sock"),
    methods: { register: registerMethod },
    handlers: {
      register({ request }: { request: Registration }, respond: sendUnaryData<Empty>) {
        registrations.push(request);
        respond(null, {});
        follow(request);
      },
    },
  });
  const lister = await serveGrpc({
    path: join(directory, "pod-resources", "kubelet.sock"),
    methods: { list: listPodResourcesMethod, allocatable: allocatableResourcesMethod },
    handlers: {
      allocatable(_call: unknown, respond: sendUnaryData<readonly ResourceDevices[]>) {
        calls.allocatable += 1;
        // As the kubelet does, with one entry for each device.
        const healthy = [...present].flatMap(([resourceName, devices]) =>
          devices.filter(({ isHealthy }) => isHealthy).map(({ id }) => ({ resourceName, ids: [id] })),
        );
        if (kubelet.pods === undefined) respond({ code: status.UNAVAILABLE, details: "starting" });
        else respond(null, [...healthy, ...kubelet.offered]);
      },
      list(_call: unknown, respond: sendUnaryData<readonly PodDevices[]>) {
        calls.list += 1;
        if (kubelet.pods === undefined) respond({ code: status.UNAVAILABLE, details: "starting" });
        else respond(null, kubelet.pods);
      },
    },
  });

  const ago = new Date(Date.now() - Math.min(3_600_000, uptime() * 1_000)); // no kubelet is older than the boot
  if (!isNew) await utimes(join(directory, "pod-resources", "kubelet.sock"), ago, ago);

  const target = (resource: string) => {
    const registration = registrations.findLast(({ resourceName }) => resourceName === resource);
    if (registration === undefined) throw new Error(`no plugin of ${resource}`);
    const signal = new AbortController().signal;
    return { path: join(plugins, registration.endpoint), timeoutMs: 30_000, signal };
  };

  const kubelet: FakeKubelet = {
    pods: [],
    offered: [],
    calls,
    registrations,
    lists: (resource) => lists.get(resource) ?? [],
    async until(resource, condition) {
      while (!condition(present.get(resource))) await delay(10);
      return present.get(resource) ?? [];
    },
    async allocate(resource, devices) {
      const [allocation] = await callGrpc(devicePluginMethods.allocate, [devices], target(resource));
      if (allocation === undefined) throw new Error("no allocation");
      return allocation;
    },
    async prefer(resource, available, count) {
      const request = [{ available, required: [], count }];
      const [preferred] = await callGrpc(devicePluginMethods.getPreferredAllocation, request, target(resource));
      return preferred ?? [];
    },
    async [Symbol.asyncDispose]() {
      for (const client of clients) client.close();
      await registry[Symbol.asyncDispose]();
      await lister[Symbol.asyncDispose]();
    },
  };
  return kubelet;
}
