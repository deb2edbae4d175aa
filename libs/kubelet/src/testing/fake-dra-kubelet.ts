// SPDX-License-Identifier: Apache-2.0
/**
 * createDraKubelet is what a driver of dynamic resource allocation sees of the kubelet: it finds the driver's registration socket in
 * `directory`, registers the driver, and calls it by gRPC.
 * Usage: `await using kubelet = createDraKubelet(directory); await kubelet.register("example.com");`
 */
import { Client, credentials, type ClientReadableStream } from "@grpc/grpc-js";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { draHealthMethods, type DraDeviceHealth } from "../dra/dra-health-messages.ts";
import { draPluginMethods, type ClaimRef, type PrepareAnswers, type UnprepareAnswers } from "../dra/dra-messages.ts";
import { pluginRegistrationMethods, type PluginInfo } from "../dra/registration-messages.ts";
import { callGrpc, type Empty } from "../grpc/grpc.ts";

export interface DraKubelet extends Disposable {
  /** Registers the driver as the kubelet does. `error` is what the kubelet says against it. */
  register(driver: string, error?: string): Promise<PluginInfo>;
  prepare(claims: readonly ClaimRef[]): Promise<PrepareAnswers>;
  unprepare(claims: readonly ClaimRef[]): Promise<UnprepareAnswers>;
  /** Opens the stream of the health, and resolves when the last list fulfils the condition. */
  untilHealth(condition: (devices: readonly DraDeviceHealth[]) => boolean): Promise<readonly DraDeviceHealth[]>;
}

export function createDraKubelet(directory: string): DraKubelet {
  let endpoint = "";
  let health: Client | undefined;
  let last: readonly DraDeviceHealth[] | undefined;
  const target = (path: string) => ({ path, timeoutMs: 30_000, signal: new AbortController().signal });

  function watchHealth(): void {
    health = new Client(`unix:${endpoint}`, credentials.createInsecure(), { "grpc.use_local_subchannel_pool": 1 });
    const { path, requestSerialize, responseDeserialize } = draHealthMethods.nodeWatchResources;
    const stream: ClientReadableStream<readonly DraDeviceHealth[]> = health.makeServerStreamRequest<
      Empty,
      readonly DraDeviceHealth[]
    >(...([path, requestSerialize, responseDeserialize, {}] as const));
    stream.on("data", (devices: readonly DraDeviceHealth[]) => {
      last = devices;
    });
    stream.on("error", () => undefined); // the driver has ended
  }

  return {
    async register(driver, error = "") {
      const socket = target(join(directory, "plugins_registry", `${driver}-reg.sock`));
      const info = await callGrpc(pluginRegistrationMethods.getInfo, {}, socket);
      endpoint = info.endpoint;
      const status = { isRegistered: error === "", error };
      await callGrpc(pluginRegistrationMethods.notifyRegistrationStatus, status, socket);
      return info;
    },
    prepare: (claims) => callGrpc(draPluginMethods.nodePrepareResources, claims, target(endpoint)),
    unprepare: (claims) => callGrpc(draPluginMethods.nodeUnprepareResources, claims, target(endpoint)),
    async untilHealth(condition) {
      if (health === undefined) watchHealth();
      while (last === undefined || !condition(last)) await delay(10);
      return last;
    },
    [Symbol.dispose]() {
      health?.close();
    },
  };
}
