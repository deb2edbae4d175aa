// SPDX-License-Identifier: Apache-2.0
/**
 * startHeadlampServer serves what Headlamp's server does for the user interface: the plugins, and the API server of the cluster
 * "main" with the credentials of one user.
 */
import { isKubeError, type Transport } from "@switchyard/kube";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import type { Shell } from "./build-shell.ts";

export interface HeadlampServer extends AsyncDisposable {
  readonly url: string;
  /** Method and path of each request to the API server. */
  readonly requests: readonly string[];
}

export interface HeadlampServerOptions {
  readonly shell: Shell;
  /** The directory of the plugin. */
  readonly plugin: string;
  /** The user's connection to the API server. */
  readonly transport: Pick<Transport, "request">;
}

const page = `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Headlamp</title>
<link rel="stylesheet" href="/shell.css"></head><body><div id="root"></div><script src="/shell.js"></script></body></html>`;
const apiPrefix = "/clusters/main/";

interface Answer {
  readonly status: number;
  readonly type: string;
  readonly body: string;
}

export async function startHeadlampServer(options: HeadlampServerOptions): Promise<HeadlampServer> {
  const { shell, plugin, transport } = options;
  const requests: string[] = [];
  const files: ReadonlyMap<string, readonly [type: string, path: string]> = new Map([
    ["/plugins/switchyard/main.js", ["text/javascript", join(plugin, "main.js")]],
    ["/plugins/switchyard/package.json", ["application/json", join(plugin, "package.json")]],
    ["/shell.js", ["text/javascript", shell.script]],
    ["/shell.css", ["text/css", shell.style]],
  ]);

  async function askCluster(method: string, { pathname, searchParams }: URL, body: string): Promise<Answer> {
    const path = `/${pathname.slice(apiPrefix.length)}`;
    requests.push(`${method} ${path}`);
    if (method !== "GET" && method !== "POST") return json({ message: `${method} is not allowed` }, 405);
    try {
      const query = Object.fromEntries(searchParams);
      const given = method === "POST" ? { body: JSON.parse(body) as object } : {};
      return json(await transport.request({ method, path, query, ...given }));
    } catch (error) {
      return json({ message: String(error) }, isKubeError(error) ? error.status : 502);
    }
  }

  async function answer(method: string, url: URL, body: string): Promise<Answer> {
    if (url.pathname.startsWith(apiPrefix)) return askCluster(method, url, body);
    if (url.pathname === "/plugins") {
      return json([{ path: "plugins/switchyard", type: "user", name: "switchyard" }]);
    }
    const [type, path] = files.get(url.pathname) ?? ["text/html"];
    return { status: 200, type, body: path === undefined ? page : await readFile(path, "utf8") };
  }

  const server = createServer((request, response) => {
    text(request)
      .then((body) => answer(request.method ?? "GET", new URL(request.url ?? "/", "http://localhost"), body))
      .catch((error: unknown) => json({ message: String(error) }, 500))
      .then(({ status, type, body }) => {
        response.writeHead(status, { "content-type": `${type}; charset=utf-8` }).end(body);
      }, console.error);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function json(value: unknown, status = 200): Answer {
  return { status, type: "application/json", body: JSON.stringify(value) };
}
