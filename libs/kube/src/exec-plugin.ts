// SPDX-License-Identifier: Apache-2.0
/**
 * Credentials from a program that a kubeconfig names (client.authentication.k8s.io), as clouds have them.
 * Usage: `const { token, expiresAt } = await runExecPlugin(plugin)`.
 */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { KubeError } from "./kube-error.ts";
import { isRecord } from "./kube-object.ts";

/** users[].user.exec of a kubeconfig. */
export interface ExecPlugin {
  readonly apiVersion: string;
  readonly command: string;
  readonly args: readonly string[];
  /** Added to our own environment. */
  readonly env: Readonly<Record<string, string>>;
  /** clusters[].cluster, for plugins that asked for it (provideClusterInfo). */
  readonly cluster?: Readonly<Record<string, unknown>> | undefined;
}

export interface ExecCredentials {
  readonly token?: string | undefined;
  /** PEM. */
  readonly clientCertificate?: string | undefined;
  /** PEM. */
  readonly clientKey?: string | undefined;
  /** Good for as long as the server takes them if there is none. */
  readonly expiresAt?: Date | undefined;
}

/** Rejects with KubeError "BadConfig", with what the plugin wrote to stderr. Nobody is there to answer its questions. */
export async function runExecPlugin(plugin: ExecPlugin): Promise<ExecCredentials> {
  const { apiVersion, command, args, cluster } = plugin;
  const asked = { apiVersion, kind: "ExecCredential", spec: { interactive: false, cluster } };
  const env = { ...process.env, ...plugin.env, KUBERNETES_EXEC_INFO: JSON.stringify(asked) };
  const tried = `run ${command} for credentials`;
  let answer: unknown;
  try {
    const running = promisify(execFile)(command, args, { env, timeout: 60_000, windowsHide: true });
    running.child.stdin?.end();
    answer = JSON.parse((await running).stdout);
  } catch (cause) {
    throw new KubeError(tried, "BadConfig", { words: wordsOf(cause), cause });
  }
  const credentials = parseCredential(answer, apiVersion);
  if (credentials === undefined) {
    throw new KubeError(tried, "BadConfig", {
      words: `its answer is no ExecCredential of ${apiVersion} with a status`,
    });
  }
  return credentials;
}

function parseCredential(answer: unknown, apiVersion: string): ExecCredentials | undefined {
  if (!isRecord(answer) || answer["kind"] !== "ExecCredential" || answer["apiVersion"] !== apiVersion) return undefined;
  const status = answer["status"];
  if (!isRecord(status)) return undefined;
  const text = (name: string) => (typeof status[name] === "string" ? status[name] : undefined);
  const expiry = new Date(text("expirationTimestamp") ?? NaN);
  return {
    token: text("token"),
    clientCertificate: text("clientCertificateData"),
    clientKey: text("clientKeyData"),
    expiresAt: Number.isNaN(expiry.getTime()) ? undefined : expiry,
  };
}

function wordsOf(cause: unknown): string {
  if (isRecord(cause) && typeof cause["stderr"] === "string" && cause["stderr"] !== "") return cause["stderr"].trim();
  return cause instanceof Error ? cause.message : String(cause);
}
