// SPDX-License-Identifier: Apache-2.0
/**
 * Finds the API server as all Kubernetes clients do: the kubeconfig that is named, else the files in KUBECONFIG, else
 * the pod's service account.
 * Usage: `await using transport = await connect({ kubeconfig: flags.kubeconfig, userAgent: "switchyard-operator/0.1.0" })`.
 */
import { existsSync } from "node:fs";
import { delimiter } from "node:path";
import type { Endpoint } from "./endpoint.ts";
import { HttpTransport, type HttpTransportOptions } from "../http/http-transport.ts";
import { readInCluster } from "./in-cluster.ts";
import type { Transport } from "../http/transport.ts";

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
  return new HttpTransport(await findEndpoint(options), options);
}

async function findEndpoint({ kubeconfig, context, env = process.env }: ConnectOptions): Promise<Endpoint> {
  // The flag of a service is set from KUBECONFIG, which may be a list; a path that is given is one file.
  const list = env["KUBECONFIG"];
  const files = kubeconfig && kubeconfig !== list ? [kubeconfig] : filesOf(list);
  if (files.length === 0) return readInCluster(env);
  // A chunk of its own in the bundle: pods have no kubeconfig and never load @kubernetes/client-node.
  const { readKubeconfig } = await import("../kubeconfig/read-kubeconfig.ts");
  return readKubeconfig(files, context);
}

/** A file of the list may be missing, but not the only one. */
function filesOf(list = ""): readonly string[] {
  const files = list.split(delimiter).filter((file) => file !== "");
  const existing = files.filter((file) => existsSync(file));
  return existing.length > 0 ? existing : files;
}
