// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { HttpTransport } from "../http/http-transport.ts";
import { FakeApiServer } from "../testing/fake-api-server.ts";
import { TemporaryDirectory } from "../testing/temporary-directory.ts";
import { startTestProxy } from "../testing/test-proxy.ts";
import { readKubeconfig } from "./read-kubeconfig.ts";

const path = "/api/v1/namespaces/ns/configmaps";

/** Returns a transport from a kubeconfig with this proxy. */
async function connectThrough(proxyUrl: string, server: URL) {
  const config = {
    "current-context": "c",
    contexts: [{ name: "c", context: { cluster: "c", user: "u" } }],
    clusters: [{ name: "c", cluster: { server: server.href, "proxy-url": proxyUrl } }],
    users: [{ name: "u", user: { token: "t" } }],
  };
  await using directory = await TemporaryDirectory.of({ config: JSON.stringify(config) });
  return new HttpTransport(await readKubeconfig([directory.file("config")]));
}

describe("proxy-url", () => {
  it.each(["http", "socks5"] as const)("routes requests and a watch through one tunnel: %s", async (protocol) => {
    await using server = await FakeApiServer.start();
    await using proxy = await startTestProxy(protocol);
    await using transport = await connectThrough(proxy.url, server.endpoint.server);
    await transport.request({ method: "GET", path });
    await transport.request({ method: "GET", path });

    server.put("a", { color: "red" });
    for await (const event of transport.watch({ path, query: { resourceVersion: "100" } })) {
      expect(event).toMatchObject({ type: "ADDED", object: { metadata: { name: "a" } } });
      break;
    }
    expect(proxy.tunnels.map(({ to }) => to)).toEqual([server.endpoint.server.host]);
  });

  it("sends user and password to the proxy", async () => {
    await using server = await FakeApiServer.start();
    await using proxy = await startTestProxy("http");
    await using transport = await connectThrough(`http://me:p%40ss@${proxy.host}`, server.endpoint.server);
    await transport.request({ method: "GET", path });
    const authorization = `Basic ${Buffer.from("me:p@ss").toString("base64")}`;
    expect(proxy.tunnels).toEqual([{ to: server.endpoint.server.host, authorization }]);
  });

  it("is named without its password when the proxy rejects or is not reachable", async () => {
    await using server = await FakeApiServer.start();
    const proxy = await startTestProxy("http", { status: 407 });
    await using transport = await connectThrough(`http://me:secret@${proxy.host}`, server.endpoint.server);
    const refused = transport.request({ method: "GET", path });
    await expect(refused).rejects.toMatchObject({ code: "ConnectionLost" });
    await expect(refused).rejects.toThrow(
      `GET ${path}: ConnectionLost (through the proxy ${proxy.host}: Bad response: 407)`,
    );

    await proxy[Symbol.asyncDispose]();
    const gone = transport.request({ method: "GET", path });
    await expect(gone).rejects.toThrow(`through the proxy ${proxy.host}: connect ECONNREFUSED`);
    expect(server.requests).toEqual([]);
  });

  it("is named when a SOCKS proxy is not reachable", async () => {
    await using server = await FakeApiServer.start();
    await using transport = await connectThrough("socks5://127.0.0.1:1", server.endpoint.server);
    const gone = transport.request({ method: "GET", path });
    await expect(gone).rejects.toThrow(/through the proxy 127.0.0.1:1: .*ECONNREFUSED/);
  });
});
