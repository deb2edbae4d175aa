// SPDX-License-Identifier: Apache-2.0
/**
 * logAbsentKinds says once, when a process starts, which optional kinds the API server does not serve, and what does not run
 * without them. If the kinds are installed later, the caches find them, and the process needs no restart.
 * Usage: `void logAbsentKinds([states, configs], { log, signal, effect: "SR-IOV devices are not configured" });`
 */
import type { Logger } from "./logger.ts";

/** A cache of an optional kind. libs/kube has the same shape. */
export interface OptionalCache {
  readonly ages: readonly { readonly resource: string }[];
  /** False if the API server answered that it does not serve the kind. */
  readonly served: boolean;
  /** Resolves after the first list, or after that answer. Rejects with the signal's reason. */
  whenSynced(signal: AbortSignal): Promise<void>;
}

export interface LogAbsentKindsOptions {
  readonly log: Pick<Logger, "info">;
  readonly signal: AbortSignal;
  /** What does not run without the kinds, as a sentence without a full stop. */
  readonly effect: string;
}

/** Resolves when all caches are synced and the message is logged, or when the signal aborts. */
export async function logAbsentKinds(
  caches: readonly OptionalCache[],
  { log, signal, effect }: LogAbsentKindsOptions,
): Promise<void> {
  try {
    await Promise.all(caches.map((cache) => cache.whenSynced(signal)));
  } catch (error) {
    if (signal.aborted) return;
    throw error;
  }
  const absent = caches.filter(({ served }) => !served);
  const resources = absent.flatMap(({ ages }) => ages.map(({ resource }) => resource));
  if (resources.length > 0) log.info({ resources, effect }, "CustomResourceDefinitions are not installed");
}
