// SPDX-License-Identifier: Apache-2.0
/**
 * The program that a kubeconfig names for credentials (client.authentication.k8s.io), as KubeConfig runs it. KubeConfig
 * neither looks for it beside the file nor tells it what is asked (KUBERNETES_EXEC_INFO).
 * Usage: `const user = { name, exec: execPlugin(file, name, fields, cluster) }`.
 */
import type { Cluster } from "@kubernetes/client-node";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { isRecord } from "../kube-object.ts";
import { badConfig } from "./kubeconfig-error.ts";
import type { KubeconfigFile } from "./kubeconfig-file.ts";

/** `users[].user.exec`, complete. */
export interface ExecPlugin {
  /** A name is looked up in PATH; a path is absolute. */
  readonly command: string;
  readonly args: readonly string[];
  /** Added to our own environment. */
  readonly env: readonly { readonly name: string; readonly value: string }[];
}

/** Throws KubeError "BadConfig". */
export function execPlugin(
  { path, directory }: KubeconfigFile,
  user: string,
  exec: Readonly<Record<string, unknown>>,
  cluster: Cluster,
): ExecPlugin {
  const { command, apiVersion, args, env, interactiveMode, provideClusterInfo } = exec;
  if (typeof command !== "string" || command === "" || typeof apiVersion !== "string" || apiVersion === "")
    throw badConfig([path], `exec of user "${user}" lacks command or apiVersion`);
  if (interactiveMode === "Always")
    throw badConfig(
      [path],
      `exec of user "${user}" asks questions (interactiveMode: Always), and a service cannot answer`,
    );

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
    throw badConfig([path], `certificate-authority ${file} cannot be read`, cause);
  }
}
