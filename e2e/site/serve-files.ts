// SPDX-License-Identifier: Apache-2.0
/** serveFiles serves a directory over HTTP on loopback, as a host of static files does. */
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { extname, join } from "node:path";

export interface FileServer extends AsyncDisposable {
  /** "http://127.0.0.1:43210", without the base. */
  readonly origin: string;
}

const types: Readonly<Record<string, string>> = {
  ".css": "text/css",
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript",
  ".json": "application/json",
  ".svg": "image/svg+xml",
};

/** `base` is the path of the directory on the server: "/" or "/switchyard/". */
export async function serveFiles(directory: string, base: string): Promise<FileServer> {
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? "/", "http://site.invalid");
    const path = decodeURIComponent(pathname);
    const file = path.startsWith(base)
      ? join("/", path.slice(base.length), path.endsWith("/") ? "index.html" : "")
      : "";
    readFile(join(directory, file)).then(
      (content) => response.writeHead(200, { "content-type": types[extname(file)] ?? "text/plain" }).end(content),
      () => response.writeHead(404).end(),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the server has no port");
  return {
    origin: `http://127.0.0.1:${address.port}`,
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.close(() => {
          resolve();
        });
        server.closeAllConnections();
      }),
  };
}
