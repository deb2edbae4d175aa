// SPDX-License-Identifier: Apache-2.0
/** readUpstream reads the API server and the credentials for a proxy from a kubeconfig of a test cluster. */
import { isRecord } from "@switchyard/kube";
import { readFile } from "node:fs/promises";
import https from "node:https";
import { parse } from "yaml";

/** How a proxy connects to the API server. */
export interface Upstream {
  readonly server: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly agent: https.Agent;
}

/** The user must have a certificate or a token. Rejects with TypeError otherwise. */
export async function readUpstream(kubeconfig: string): Promise<Upstream> {
  const config: unknown = parse(await readFile(kubeconfig, "utf8"));
  const [cluster, user] = [valueAt(config, "clusters", "0", "cluster"), valueAt(config, "users", "0", "user")];
  const textAt = (entry: unknown, field: string): string => {
    const value = valueAt(entry, field);
    if (typeof value !== "string") throw new TypeError(`${kubeconfig} has no ${field}`);
    return value;
  };
  const decode = (entry: unknown, field: string): Buffer => Buffer.from(textAt(entry, `${field}-data`), "base64");
  const ca = decode(cluster, "certificate-authority");
  const server = new URL(textAt(cluster, "server"));
  if (isRecord(user) && typeof user["token"] === "string") {
    const headers = { authorization: `Bearer ${user["token"]}` };
    return { server, headers, agent: new https.Agent({ keepAlive: true, ca }) };
  }
  const certificate = { cert: decode(user, "client-certificate"), key: decode(user, "client-key") };
  return { server, headers: {}, agent: new https.Agent({ keepAlive: true, ca, ...certificate }) };
}

/** The value at a path, where "0" is the first entry of a list. */
function valueAt(value: unknown, ...path: readonly string[]): unknown {
  return path.reduce((found, key) => {
    const fields: unknown = Array.isArray(found) ? Object.fromEntries(found.entries()) : found;
    return isRecord(fields) ? fields[key] : undefined;
  }, value);
}
