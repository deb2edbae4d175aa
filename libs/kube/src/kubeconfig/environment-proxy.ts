// SPDX-License-Identifier: Apache-2.0
/**
 * proxyFor returns the proxy that environment variables name for a server. The rules are those of Go's httpproxy package, which kubectl
 * follows. HTTPS_PROXY is for https, HTTP_PROXY for http, and NO_PROXY has the exceptions, in upper or lower case. A server on this
 * machine never has a proxy.
 * Usage: `proxyFor(new URL("https://api.example.com"), process.env)`.
 */
import { BlockList, isIP } from "node:net";

/** Environment variables by name. */
export type ProxyVariables = Readonly<Record<string, string | undefined>>;

/** Returns the URL of the proxy; undefined if the server is reached without one. */
export function proxyFor(server: URL, env: ProxyVariables): string | undefined {
  const isPlain = server.protocol === "http:";
  const proxy = isPlain ? variable(env, "HTTP_PROXY") : variable(env, "HTTPS_PROXY");
  if (proxy === "" || isExcepted(server, variable(env, "NO_PROXY"))) return undefined;
  return proxy.includes("://") ? proxy : `http://${proxy}`;
}

/** The name in upper case has precedence. */
function variable(env: ProxyVariables, name: string): string {
  return (env[name] || env[name.toLowerCase()] || "").trim();
}

function isExcepted(server: URL, exceptions: string): boolean {
  const host = server.hostname.replace(/^\[(.*)\]$/, "$1").replace(/\.$/, "");
  const port = server.port || (server.protocol === "http:" ? "80" : "443");
  if (host === "localhost" || isInNetwork(host, "127.0.0.0/8") || host === "::1") return true;
  return exceptions
    .split(",")
    .map((entry) => entry.trim().toLowerCase())
    .some((entry) => entry !== "" && isExceptedBy(entry, { host, port }));
}

function isExceptedBy(entry: string, { host, port }: { readonly host: string; readonly port: string }): boolean {
  if (entry === "*") return true;
  if (entry.includes("/")) return isInNetwork(host, entry);
  const { name, port: only = port } = splitPort(entry);
  if (only !== port) return false;
  if (isIP(name) !== 0 || isIP(host) !== 0) return name === host;
  if (name.startsWith("*.")) return host.endsWith(name.slice(1));
  if (name.startsWith(".")) return host.endsWith(name);
  return host === name || host.endsWith(`.${name}`);
}

/** "a:1" and "[::1]:1" have a port, "::1" has none. */
function splitPort(entry: string): { readonly name: string; readonly port?: string } {
  const [, bracketed, after] = /^\[([^\]]*)\](?::(\d+))?$/.exec(entry) ?? [];
  if (bracketed !== undefined) return { name: bracketed, ...(after !== undefined && { port: after }) };
  const [name = "", port, ...more] = entry.split(":");
  return port === undefined || more.length > 0 ? { name: entry } : { name, port };
}

/** Reports whether `host` is an address in `network`, such as 10.0.0.0/8. An invalid network contains nothing. */
function isInNetwork(host: string, network: string): boolean {
  const [address = "", bits = ""] = network.split("/");
  const family = isIP(address);
  const prefix = /^\d{1,3}$/.test(bits) ? Number(bits) : NaN;
  if (family === 0 || isIP(host) !== family || !(prefix <= (family === 4 ? 32 : 128))) return false;
  const type = family === 4 ? "ipv4" : "ipv6";
  const list = new BlockList();
  list.addSubnet(address, prefix, type);
  return list.check(host, type);
}
