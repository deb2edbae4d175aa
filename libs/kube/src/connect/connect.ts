// SPDX-License-Identifier: Apache-2.0
/**
 * connect makes a transport to the API server. Like other Kubernetes clients it uses the given kubeconfig, else the files
 * in KUBECONFIG, else the service account of the pod.
 * Usage: `await using transport = await connect({ kubeconfig: flags.kubeconfig, userAgent: "switchyard-operator" })`.
 */
import { existsSync } from "node:fs";
import { delimiter } from "node:path";
import type { Endpoint } from "../http/credentials.ts";
import { HttpTransport, type HttpTransportOptions } from "../http/http-transport.ts";
import { readInCluster, type InClusterOptions } from "./in-cluster.ts";
import type { Transport } from "../http/transport.ts";

export interface ConnectOptions extends HttpTransportOptions {
  /** Path of a kubeconfig. */
  readonly kubeconfig?: string | undefined;
  /** Context of the kubeconfig; its current-context by default. */
  readonly context?: string | undefined;
  /** Environment variables; process.env by default. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /** Finds the address of the API server for a pod, which may change while the process runs (in-cluster.ts). */
  readonly findAddress?: InClusterOptions["findAddress"];
  /** Whether HTTPS_PROXY, HTTP_PROXY and NO_PROXY count for kubeconfigs without proxy-url, as with kubectl. */
  readonly usesProxyVariables?: boolean | undefined;
}

/** Rejects with KubeError "BadConfig". Does not check that the server responds. */
export async function connect(options: ConnectOptions = {}): Promise<Transport> {
  return new HttpTransport(await findEndpoint(options), options);
}

async function findEndpoint(options: ConnectOptions): Promise<Endpoint> {
  const { kubeconfig, context, env = process.env, findAddress, usesProxyVariables = false } = options;
  // A service passes KUBECONFIG as its flag, and that can be a list. Any other given path is one file.
  const list = env["KUBECONFIG"];
  const files = kubeconfig && kubeconfig !== list ? [kubeconfig] : filesOf(list);
  if (files.length === 0) return readInCluster(env, { findAddress });
  // A separate chunk of the bundle: pods have no kubeconfig and never load @kubernetes/client-node.
  const { readKubeconfig } = await import("../kubeconfig/read-kubeconfig.ts");
  return readKubeconfig(files, context, usesProxyVariables ? env : {});
}

/** Leaves out files that do not exist, unless none exists. */
function filesOf(list = ""): readonly string[] {
  const files = list.split(delimiter).filter((file) => file !== "");
  const existing = files.filter((file) => existsSync(file));
  return existing.length > 0 ? existing : files;
}
