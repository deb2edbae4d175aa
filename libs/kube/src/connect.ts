// SPDX-License-Identifier: Apache-2.0
/**
 * Finds the API server as all Kubernetes clients do: the kubeconfig that is named, else the files in KUBECONFIG, else
 * the pod's service account.
 * Usage: `await using transport = await connect({ kubeconfig: flags.kubeconfig, userAgent: "switchyard-operator/0.1.0" })`.
 */
import { existsSync } from "node:fs";
import { delimiter } from "node:path";
import { HttpTransport, type HttpTransportOptions } from "./http-transport.ts";
import { readInCluster } from "./in-cluster.ts";
import { readKubeconfig } from "./kubeconfig.ts";
import type { Transport } from "./transport.ts";

export interface ConnectOptions extends HttpTransportOptions {
  /** Path of a kubeconfig. */
  readonly kubeconfig?: string | undefined;
  /** Of the kubeconfig; its current-context unless given. */
  readonly context?: string | undefined;
  /** process.env unless given. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
}

/** Rejects with KubeError "BadConfig". That the server answers is not checked. */
export async function connect(options: ConnectOptions = {}): Promise<Transport> {
  const { kubeconfig, context, env = process.env } = options;
  const files = kubeconfig ? [kubeconfig] : filesOf(env["KUBECONFIG"]);
  const endpoint = files.length > 0 ? await readKubeconfig(files, context) : await readInCluster(env);
  return new HttpTransport(endpoint, options);
}

/** A file of the list may be missing, but not the only one. */
function filesOf(list = ""): readonly string[] {
  const files = list.split(delimiter).filter((file) => file !== "");
  const existing = files.filter((file) => existsSync(file));
  return existing.length > 0 ? existing : files;
}
