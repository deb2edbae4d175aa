// SPDX-License-Identifier: Apache-2.0
/**
 * runPlugin keeps a plugin connected: when the runtime closes the connection, restarts, or is not there yet, it connects again, after a pause
 * that grows.
 * Usage: `await runPlugin({ socketPath, name: "example", index: "50", handlers, ...callbacks }, signal);`
 */
import { setTimeout as delay } from "node:timers/promises";
import { connectPlugin, type PluginOptions } from "./connect-plugin.ts";

export interface RunPluginOptions extends PluginOptions {
  /** Called with the error of each connection that has ended, and the time until the next one in ms. */
  readonly ended: (error: unknown, pauseMs: number) => void;
  /** The first and the longest pause between connections, in ms. */
  readonly pause?: { readonly firstMs: number; readonly longestMs: number };
}

/** Resolves when `signal` has aborted. Never rejects. */
export async function runPlugin(options: RunPluginOptions, signal: AbortSignal): Promise<void> {
  const { firstMs, longestMs } = options.pause ?? { firstMs: 250, longestMs: 30_000 };
  const { handlers } = options;
  let pauseMs = firstMs;
  const serving = {
    ...options,
    handlers: {
      ...handlers,
      synchronize(...args: Parameters<typeof handlers.synchronize>) {
        pauseMs = firstMs; // the runtime has accepted the plugin
        handlers.synchronize(...args);
      },
    },
  };
  while (!signal.aborted) {
    try {
      await connectPlugin(serving, signal);
    } catch (error) {
      options.ended(error, pauseMs);
      await delay(pauseMs, undefined, { signal }).catch(() => undefined);
      pauseMs = Math.min(pauseMs * 2, longestMs);
    }
  }
}
