// SPDX-License-Identifier: Apache-2.0
/**
 * commonFlags are the flags that every service accepts, and nodeFlags those of services that run on nodes.
 */
import { durationMs, listenAddress, oneOf, text, yesOrNo, type FlagKind } from "./flag-kinds.ts";
import { flag, type FlagsOf } from "./flags.ts";
import { logLevels } from "../logger.ts";

/** Values of commonFlags. */
export type CommonValues = typeof commonFlags extends FlagsOf<infer Values> ? Values : never;

/** The API server sends a bookmark about once a minute, so a shorter age would make healthy caches look stale. */
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
    help: "Kubeconfig file for the connection to the cluster. If not set, the service account of the pod is used.",
  }),
  namespace: flag(text("NAMESPACE"), {
    required: true,
    env: "NAMESPACE",
    help: "Namespace of the operator. Policies, pools and the SriovOperatorConfig are read from this namespace only.",
  }),
  logLevel: flag(oneOf(...logLevels), {
    default: "info",
    env: "LOG_LEVEL",
    help: "Minimum severity of log lines.",
  }),
  healthAddress: flag(listenAddress, {
    default: "0",
    env: "HEALTH_ADDRESS",
    help: "Address that serves /healthz and /readyz. 0 disables them.",
  }),
  metricsAddress: flag(listenAddress, {
    default: "0",
    env: "METRICS_ADDRESS",
    help: "Address that serves Prometheus metrics at /metrics. 0 disables them. It can be the same as --health-address.",
  }),
  metricsSecure: flag(yesOrNo, {
    default: "false",
    env: "METRICS_SECURE",
    help: "Serve metrics over TLS, and only for tokens with the right to get the non-resource URL /metrics. Needs its own --metrics-address.",
  }),
  maxCacheAge: flag(cacheAge, {
    default: "5m",
    env: "MAX_CACHE_AGE",
    help: "A cache is stale when the API server has not confirmed it for this long. Then /readyz reports it, and nothing is done by its content.",
  }),
};

/** Flags of the services that run on each node, with the same names in all of them. */
export const nodeFlags = {
  nodeName: flag(text("NAME"), {
    required: true,
    env: "NODE_NAME",
    help: "Name of the node on which this process runs.",
  }),
  hostRoot: flag(text("DIR"), {
    default: "/host",
    env: "HOST_ROOT",
    help: "Directory where the file system of the host is mounted.",
  }),
};
