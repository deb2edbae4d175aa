// SPDX-License-Identifier: Apache-2.0
/**
 * keepRegistered serves a plugin on its socket and registers it with the kubelet: when the kubelet is there, and again after each
 * restart of the kubelet, which removes the sockets of all plugins.
 */
import { join } from "node:path";
import {
  callGrpc,
  devicePluginVersion,
  identityOf,
  registerMethod,
  serveGrpc,
  type GrpcService,
  type SocketWatch,
} from "@switchyard/kubelet";

export interface RegisteredPlugin {
  /** Directory of the kubelet's socket, kubelet/device-plugins. */
  readonly directory: string;
  /** Name of the plugin's socket in the directory. */
  readonly endpoint: string;
  readonly resourceName: string;
  readonly service: Omit<GrpcService, "path">;
  readonly watch: SocketWatch;
  readonly registered: () => void;
  /** Called with each failure. It is tried again after `retryMs`, or earlier if the kubelet starts. */
  readonly failed: (error: unknown, retryMs: number) => void;
}

const timeoutMs = 10_000;
const backoff = { firstMs: 500, maxMs: 30_000 };
/** In case inotify lost an event. */
const checkMs = 30_000;
const kubeletSocket = "kubelet.sock";

/** Resolves when `signal` has aborted and the socket is removed. */
export async function keepRegistered(plugin: RegisteredPlugin, signal: AbortSignal): Promise<void> {
  const { directory, endpoint, watch } = plugin;
  const kubelet = join(directory, kubeletSocket);
  const own = join(directory, endpoint);
  const isStopped = (): boolean => signal.aborted;
  let retryMs = backoff.firstMs;

  async function serveOnce(): Promise<void> {
    await using _server = await serveGrpc({ path: own, ...plugin.service });
    const served = await identityOf(own);
    const asked = await identityOf(kubelet);
    // A kubelet that starts only now would be taken for another one below, and asked twice.
    if (asked === undefined) throw new Error(`the kubelet does not run: ${kubelet} does not exist`);
    await callGrpc(
      ...([registerMethod, { version: devicePluginVersion, endpoint, resourceName: plugin.resourceName }] as const),
      { path: kubelet, timeoutMs, signal },
    );
    plugin.registered();
    retryMs = backoff.firstMs;
    for (let seen = watch.changes(); !signal.aborted; seen = watch.changes()) {
      if ((await identityOf(own)) !== served || (await identityOf(kubelet)) !== asked) return;
      await watch.changed({ seen, timeoutMs: checkMs }, signal);
    }
  }

  while (!isStopped()) {
    try {
      await serveOnce();
    } catch (error) {
      if (isStopped()) return;
      plugin.failed(error, retryMs);
      await kubeletStartsOr(retryMs);
      retryMs = Math.min(2 * retryMs, backoff.maxMs);
    }
  }

  /** Resolves when the kubelet has a new socket, or after `ms`. */
  async function kubeletStartsOr(ms: number): Promise<void> {
    const before = await identityOf(kubelet);
    const deadline = performance.now() + ms;
    for (let seen = watch.changes(); !signal.aborted; seen = watch.changes()) {
      const leftMs = deadline - performance.now();
      if (leftMs <= 0 || (await identityOf(kubelet)) !== before) return;
      await watch.changed({ seen, timeoutMs: leftMs }, signal);
    }
  }
}
