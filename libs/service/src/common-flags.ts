// SPDX-License-Identifier: Apache-2.0
/**
 * The flags that every service takes.
 */
import { durationMs, listenAddress, oneOf, text, type FlagKind } from "./flag-kinds.ts";
import { flag, type FlagsOf } from "./flags.ts";
import { logLevels } from "./logger.ts";

/** Values of commonFlags. */
export type CommonValues = typeof commonFlags extends FlagsOf<infer Values> ? Values : never;

/** Bookmarks arrive each minute: with less, healthy caches would look stale. */
const cacheAge: FlagKind<number> = {
  ...durationMs,
  expected: "a duration of at least 90s",
  parse(value) {
    const ms = durationMs.parse(value);
    return ms !== undefined && ms >= 90_000 ? ms : undefined;
  },
};

export const commonFlags = {
  kubeconfig: flag(text("FILE"), {
    env: "KUBECONFIG",
    help: "How to reach the cluster. Absent: as a pod of it, by its service account.",
  }),
  namespace: flag(text("NAMESPACE"), {
    required: true,
    env: "NAMESPACE",
    help: "Namespace that the operator runs in; its own objects are honoured there only.",
  }),
  logLevel: flag(oneOf(...logLevels), {
    default: "info",
    env: "LOG_LEVEL",
    help: "Least severe lines that are written.",
  }),
  healthAddress: flag(listenAddress, {
    default: "0",
    env: "HEALTH_ADDRESS",
    help: "Where /healthz and /readyz are served; 0 is nowhere.",
  }),
  metricsAddress: flag(listenAddress, {
    default: "0",
    env: "METRICS_ADDRESS",
    help: "Where /metrics is served, for Prometheus; 0 is nowhere. May be the health address.",
  }),
  maxCacheAge: flag(cacheAge, {
    default: "5m",
    env: "MAX_CACHE_AGE",
    help: "A cache that the API server has not confirmed for longer is stale: /readyz says so, and the operator does not act on it.",
  }),
};
