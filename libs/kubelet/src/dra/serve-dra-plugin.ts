// SPDX-License-Identifier: Apache-2.0
/**
 * serveDraPlugin serves a driver of dynamic resource allocation to the kubelet. The kubelet watches plugins_registry: it finds the
 * registration socket there at its own start and when the socket appears, and calls the driver on the endpoint that it learns.
 * Usage: `await using plugin = await serveDraPlugin({ driver, kubeletDirectory, prepare, unprepare, ...callbacks });`
 */
import { status, type sendUnaryData, type ServerWritableStream } from "@grpc/grpc-js";
import { makeDirectory } from "@switchyard/service";
import { join } from "node:path";
import { serveGrpc, type Empty } from "../grpc/grpc.ts";
import { draHealthMethods, type DraDeviceHealth } from "./dra-health-messages.ts";
import { draPluginMethods, type ClaimRef, type PrepareAnswers, type UnprepareAnswers } from "./dra-messages.ts";
import { pluginRegistrationMethods, type PluginInfo, type RegistrationStatus } from "./registration-messages.ts";

export interface DraPluginOptions {
  /** Name of the driver, a DNS subdomain. */
  readonly driver: string;
  /** Directory of the kubelet as this process sees it: "/host/var/lib/kubelet". */
  readonly kubeletDirectory: string;
  /** The same directory as the kubelet sees it: "/var/lib/kubelet". */
  readonly kubeletDirectoryOnHost: string;
  /** Prepares claims. A claim that the answer does not name counts as failed. */
  readonly prepare: (claims: readonly ClaimRef[]) => Promise<PrepareAnswers>;
  readonly unprepare: (claims: readonly ClaimRef[]) => Promise<UnprepareAnswers>;
  /** Called with each answer of the kubelet to the registration. */
  readonly registered: (status: RegistrationStatus) => void;
}

export interface DraPlugin extends AsyncDisposable {
  /** Sends the health of all devices to the kubelet, now and to each stream that it opens later. */
  setHealth(devices: readonly DraDeviceHealth[]): void;
}

/** Services of the driver, as k8s.io/kubelet names them for the registration. */
const services = ["v1.DRAPlugin", "v1alpha1.DRAResourceHealth"];

/** Resolves when both sockets are ready. The registration socket is created last, because the kubelet calls at once. */
export async function serveDraPlugin(options: DraPluginOptions): Promise<DraPlugin> {
  const { driver, kubeletDirectory, kubeletDirectoryOnHost } = options;
  const plugins = join("plugins", driver);
  const streams = new Set<ServerWritableStream<Empty, readonly DraDeviceHealth[]>>();
  let health: readonly DraDeviceHealth[] = [];
  for (const directory of [plugins, "plugins_registry"]) await makeDirectory(join(kubeletDirectory, directory));

  const service = await serveGrpc({
    path: join(kubeletDirectory, plugins, "dra.sock"),
    methods: { ...draPluginMethods, ...draHealthMethods },
    handlers: {
      nodePrepareResources: answering(options.prepare),
      nodeUnprepareResources: answering(options.unprepare),
      nodeWatchResources(stream: ServerWritableStream<Empty, readonly DraDeviceHealth[]>) {
        streams.add(stream);
        const forget = (): void => void streams.delete(stream);
        stream.on("cancelled", forget).on("close", forget).on("error", forget);
        stream.write(health);
      },
    },
    end() {
      for (const stream of streams) stream.end();
    },
  });
  const info: PluginInfo = {
    type: "DRAPlugin",
    name: driver,
    endpoint: join(kubeletDirectoryOnHost, plugins, "dra.sock"),
    supportedVersions: services,
  };
  const registration = await serveGrpc({
    path: join(kubeletDirectory, "plugins_registry", `${driver}-reg.sock`),
    methods: pluginRegistrationMethods,
    handlers: {
      getInfo(_call: unknown, respond: sendUnaryData<PluginInfo>) {
        respond(null, info);
      },
      notifyRegistrationStatus({ request }: { request: RegistrationStatus }, respond: sendUnaryData<Empty>) {
        options.registered(request);
        respond(null, {});
      },
    },
  });

  return {
    setHealth(devices) {
      health = devices;
      for (const stream of streams) stream.write(devices);
    },
    async [Symbol.asyncDispose]() {
      await registration[Symbol.asyncDispose](); // first, so that the kubelet does not connect again
      await service[Symbol.asyncDispose]();
    },
  };
}

/** Answers a call. An error that the driver throws concerns no single claim. */
function answering<Answers>(act: (claims: readonly ClaimRef[]) => Promise<Answers>) {
  return ({ request }: { readonly request: readonly ClaimRef[] }, respond: sendUnaryData<Answers>): void => {
    act(request).then(
      (answers) => {
        respond(null, answers);
      },
      (error: unknown) => {
        respond({ code: status.INTERNAL, details: error instanceof Error ? error.message : String(error) });
      },
    );
  };
}
