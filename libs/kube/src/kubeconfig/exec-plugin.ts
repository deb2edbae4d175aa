// SPDX-License-Identifier: Apache-2.0
/**
 * execPlugin prepares the program that provides credentials (client.authentication.k8s.io) for KubeConfig. KubeConfig does
 * not resolve its path relative to the file and does not set KUBERNETES_EXEC_INFO.
 */
import type { Cluster } from "@kubernetes/client-node";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { isRecord } from "../kube-object.ts";
import { badConfig } from "./kubeconfig-fields.ts";
import type { KubeconfigFile } from "./kubeconfig-file.ts";

/** Complete `users[].user.exec`. */
export interface ExecPlugin {
  /** Name of a program in PATH, or absolute path. */
  readonly command: string;
  readonly args: readonly string[];
  /** Variables in addition to those of this process. */
  readonly env: readonly { readonly name: string; readonly value: string }[];
}

/** Throws KubeError "BadConfig" for an incomplete entry and for an interactive plugin. */
export function execPlugin(
  { path, directory }: KubeconfigFile,
  user: string,
  exec: Readonly<Record<string, unknown>>,
  cluster: Cluster,
): ExecPlugin {
  const { command, apiVersion, args, env, interactiveMode, provideClusterInfo } = exec;
  if (typeof command !== "string" || command === "" || typeof apiVersion !== "string" || apiVersion === "")
    throw badConfig([path], `exec of user "${user}" has no command or no apiVersion`);
  if (interactiveMode === "Always")
    throw badConfig([path], `exec of user "${user}" has interactiveMode "Always", which is not supported`);

  const spec = { interactive: false, ...(provideClusterInfo === true && { cluster: clusterInfo(path, cluster) }) };
  const variables: readonly unknown[] = Array.isArray(env) ? env : [];
  return {
    command: command.includes("/") ? resolve(directory, command) : command,
    args: Array.isArray(args) ? args.map(String) : [],
    env: [
      ...variables.filter(isRecord).map(({ name, value }) => ({ name: String(name), value: String(value) })),
      { name: "KUBERNETES_EXEC_INFO", value: JSON.stringify({ apiVersion, kind: "ExecCredential", spec }) },
    ],
  };
}

function clusterInfo(path: string, cluster: Cluster): object {
  const { server, tlsServerName, skipTLSVerify, caData, caFile, proxyUrl } = cluster;
  return {
    server,
    "tls-server-name": tlsServerName,
    "insecure-skip-tls-verify": skipTLSVerify || undefined,
    "certificate-authority-data": caData ?? (caFile && readBase64(path, caFile)),
    "proxy-url": proxyUrl,
  };
}

function readBase64(path: string, file: string): string {
  try {
    return readFileSync(file, "base64");
  } catch (cause) {
    throw badConfig([path], `cannot read certificate-authority ${file}`, cause);
  }
}
