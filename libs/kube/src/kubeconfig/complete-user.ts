// SPDX-License-Identifier: Apache-2.0
/**
 * completeUser prepares a user of a kubeconfig for KubeConfig 2.0.1. It rewrites features that KubeConfig lacks: `tokenFile`,
 * the precedence of data over files, relative paths of plugins, and the environment of exec plugins. Impersonation of
 * groups becomes additional headers.
 */
import type { Cluster, User } from "@kubernetes/client-node";
import { resolve } from "node:path";
import { isRecord } from "../kube-object.ts";
import { execPlugin } from "./exec-plugin.ts";
import { badConfig } from "./kubeconfig-fields.ts";
import type { KubeconfigFile } from "./kubeconfig-file.ts";
import { oidcProviderName } from "./oidc.ts";

export interface CompleteUser {
  readonly user: User;
  /** Headers in addition to those of KubeConfig. */
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  /** File with the user. */
  readonly path: string;
}

/** Throws KubeError "BadConfig" for unsupported features. */
export function completeUser(file: KubeconfigFile, user: User, cluster: Cluster): CompleteUser {
  const fields = fieldsOf(file, user.name);
  const { name, certFile, certData, keyFile, keyData, token, username, password, impersonateUser } = user;
  const exec: unknown = user.exec;
  const tokenFile = textOf(fields["tokenFile"]);
  const provider = tokenFile ? tokenFileProvider(resolve(file.directory, tokenFile)) : oidcProvider(file, user);
  return {
    user: {
      name,
      ...(certData ? { certData } : certFile && { certFile }),
      ...(keyData ? { keyData } : keyFile && { keyFile }),
      ...(username && { username, password: password ?? "" }),
      ...(token && !tokenFile && { token }),
      ...(impersonateUser && { impersonateUser }),
      ...(isRecord(exec) && { exec: execPlugin(file, name, exec, cluster) }),
      ...(provider && { authProvider: provider }),
    },
    headers: impersonationHeaders(file, name, fields),
    path: file.path,
  };
}

/** Returns `users[].user` of the file. */
function fieldsOf({ fields }: KubeconfigFile, name: string): Readonly<Record<string, unknown>> {
  const users: readonly unknown[] = Array.isArray(fields["users"]) ? fields["users"] : [];
  const user = users.filter(isRecord).find((entry) => entry["name"] === name)?.["user"];
  return isRecord(user) ? user : {};
}

/** Returns the provider that KubeConfig uses for the service account of a pod. */
function tokenFileProvider(tokenFile: string): object {
  return { name: "tokenFile", config: { tokenFile } };
}

/** kubectl 1.26 removed all other providers. KubeConfig's own one for oidc cannot refresh (oidc.ts). */
function oidcProvider(file: KubeconfigFile, { name, authProvider }: User): object | undefined {
  const provider: unknown = authProvider;
  if (!isRecord(provider)) return undefined;
  if (provider["name"] !== "oidc") {
    const words = `auth-provider "${String(provider["name"])}" of user "${name}" is not supported; use an exec plugin`;
    throw badConfig([file.path], words);
  }
  const config = isRecord(provider["config"]) ? provider["config"] : {};
  const authority = textOf(config["idp-certificate-authority"]);
  const absolute = authority && { "idp-certificate-authority": resolve(file.directory, authority) };
  return { name: oidcProviderName, config: { ...config, ...absolute } };
}

/** Returns the impersonation headers that KubeConfig does not send; it supports only `as`. */
function impersonationHeaders(
  file: KubeconfigFile,
  name: string,
  fields: Readonly<Record<string, unknown>>,
): Readonly<Record<string, string | readonly string[]>> {
  const uid = textOf(fields["as-uid"]);
  const groups = textsOf(fields["as-groups"]);
  const extra = isRecord(fields["as-user-extra"]) ? Object.entries(fields["as-user-extra"]) : [];
  const headers = {
    ...(uid && { "impersonate-uid": uid }),
    ...(groups.length > 0 && { "impersonate-group": groups }),
    ...Object.fromEntries(
      extra.map(([key, values]) => [`impersonate-extra-${encodeURIComponent(key)}`, textsOf(values)]),
    ),
  };
  // Without "as", the API server would ignore these headers, and requests would have all rights of the user.
  if (Object.keys(headers).length > 0 && !textOf(fields["as"]))
    throw badConfig([file.path], `user "${name}" impersonates groups, a uid or extra fields without a user ("as")`);
  return headers;
}

/** Returns `value` if it is a string that is not empty. */
function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

function textsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
}
