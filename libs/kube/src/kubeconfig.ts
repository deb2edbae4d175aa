// SPDX-License-Identifier: Apache-2.0
/**
 * Kubeconfig files, as far as a service can use them: certificates, tokens, passwords, impersonation, exec plugins. Of
 * several files, the first that has an entry wins, as with kubectl.
 * Usage: `const endpoint = await readKubeconfig(["/home/me/.kube/config"], "lab")`.
 */
import { readFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import type { Endpoint, Secret } from "./endpoint.ts";
import type { ExecPlugin } from "./exec-plugin.ts";
import { KubeError } from "./kube-error.ts";
import { isRecord } from "./kube-object.ts";

/** `context` is the files' current-context unless given. Rejects with KubeError "BadConfig". */
export async function readKubeconfig(files: readonly string[], context?: string): Promise<Endpoint> {
  const configs = await Promise.all(files.map(readConfig));
  const current = context ?? configs.map(({ fields }) => fields["current-context"]).find((name) => Boolean(name));
  if (typeof current !== "string") throw bad(files.join(":"), "it has no current-context");

  const chosen = find(configs, "contexts", "context", current);
  const cluster = find(configs, "clusters", "cluster", text(chosen, "cluster") ?? "");
  const userName = text(chosen, "user");
  const user = userName === undefined ? undefined : find(configs, "users", "user", userName);

  const server = text(cluster, "server");
  if (server === undefined || !URL.canParse(server))
    throw bad(cluster.file, `${cluster.at} has no server, or no URL there`);
  if (cluster.fields["proxy-url"]) throw bad(cluster.file, `${cluster.at} has a proxy-url, which is not supported`);
  return {
    server: new URL(server),
    namespace: text(chosen, "namespace") ?? "default",
    authority: secret(cluster, "certificate-authority"),
    serverName: text(cluster, "tls-server-name"),
    insecure: cluster.fields["insecure-skip-tls-verify"] === true,
    ...(user && (await readUser(user, cluster))),
  };
}

/** A mapping, and where it stands. */
interface Entry {
  readonly file: string;
  readonly at: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

async function readConfig(file: string): Promise<Entry> {
  try {
    const { parse } = await import("yaml"); // not loaded in a pod, which has no kubeconfig: 2 MB
    const fields: unknown = parse(await readFile(file, "utf8"));
    if (isRecord(fields)) return { file, at: "the file", fields };
  } catch (cause) {
    throw bad(file, "it cannot be read", cause);
  }
  throw bad(file, "it is no kubeconfig");
}

/** In `list`, the entry of this name: `- { name: ..., <member>: { ... } }`. */
function find(configs: readonly Entry[], list: string, member: string, name: string): Entry {
  for (const { file, fields } of configs) {
    const entries: readonly unknown[] = Array.isArray(fields[list]) ? fields[list] : [];
    const found = entries.filter(isRecord).find((entry) => entry["name"] === name)?.[member];
    if (isRecord(found)) return { file, at: `${member} "${name}"`, fields: found };
  }
  throw bad(configs.map(({ file }) => file).join(":"), `there is no ${member} "${name}"`);
}

async function readUser(user: Entry, cluster: Entry): Promise<Partial<Endpoint>> {
  if (user.fields["auth-provider"]) throw bad(user.file, `${user.at} has an auth-provider: use an exec plugin instead`);
  const tokenFile = text(user, "tokenFile");
  const token = text(user, "token");
  return {
    clientCertificate: secret(user, "client-certificate"),
    clientKey: secret(user, "client-key"),
    token: tokenFile ? { file: resolve(dirname(user.file), tokenFile) } : token ? { text: token } : undefined,
    headers: { ...passwordHeader(user), ...impersonationHeaders(user) },
    exec: isRecord(user.fields["exec"]) ? await readExec({ ...user, fields: user.fields["exec"] }, cluster) : undefined,
  };
}

function passwordHeader(user: Entry): Record<string, string> {
  const name = text(user, "username");
  if (name === undefined) return {};
  return { authorization: `Basic ${Buffer.from(`${name}:${text(user, "password") ?? ""}`).toString("base64")}` };
}

function impersonationHeaders(user: Entry): Record<string, string | readonly string[]> {
  const name = text(user, "as");
  if (name === undefined) return {};
  const uid = text(user, "as-uid");
  const extra = isRecord(user.fields["as-user-extra"]) ? user.fields["as-user-extra"] : {};
  return {
    "impersonate-user": name,
    ...(uid && { "impersonate-uid": uid }),
    "impersonate-group": texts(user.fields["as-groups"]),
    ...Object.fromEntries(
      Object.entries(extra).map(([key, values]) => [`impersonate-extra-${encodeURIComponent(key)}`, texts(values)]),
    ),
  };
}

async function readExec(exec: Entry, cluster: Entry): Promise<ExecPlugin> {
  const command = text(exec, "command");
  const apiVersion = text(exec, "apiVersion");
  if (command === undefined || apiVersion === undefined)
    throw bad(exec.file, `exec of ${exec.at} lacks command or apiVersion`);
  if (exec.fields["interactiveMode"] === "Always") throw bad(exec.file, `exec of ${exec.at} wants to ask a person`);
  const env: readonly unknown[] = Array.isArray(exec.fields["env"]) ? exec.fields["env"] : [];
  return {
    apiVersion,
    // A name is looked up in PATH; what has a slash is relative to the file.
    command: command.includes("/") ? resolve(dirname(exec.file), command) : command,
    args: texts(exec.fields["args"]),
    env: Object.fromEntries(env.filter(isRecord).map(({ name, value }) => [String(name), String(value)])),
    cluster: exec.fields["provideClusterInfo"] === true ? await clusterInfo(cluster) : undefined,
  };
}

async function clusterInfo(cluster: Entry): Promise<Readonly<Record<string, unknown>>> {
  const { fields } = cluster;
  const authority = secret(cluster, "certificate-authority");
  const pem = authority && ("file" in authority ? await readFile(authority.file, "utf8") : authority.text);
  return {
    server: fields["server"],
    "tls-server-name": fields["tls-server-name"],
    "insecure-skip-tls-verify": fields["insecure-skip-tls-verify"],
    "certificate-authority-data": pem && Buffer.from(pem).toString("base64"),
  };
}

/** The PEM of `name` within the kubeconfig (`<name>-data`) or in a file beside it. */
function secret(entry: Entry, name: string): Secret | undefined {
  const data = text(entry, `${name}-data`);
  if (data !== undefined) return { text: Buffer.from(data, "base64").toString("utf8") };
  const file = text(entry, name);
  return file === undefined ? undefined : { file: resolve(dirname(entry.file), file) };
}

/** A text that is not empty. */
function text({ fields }: Entry, name: string): string | undefined {
  const value = fields[name];
  return typeof value === "string" && value !== "" ? value : undefined;
}

function texts(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
}

function bad(file: string, words: string, cause?: unknown): KubeError {
  return new KubeError(`use kubeconfig ${file}`, "BadConfig", { words, cause });
}
