// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { createServer, type Agent } from "node:http";
import { text } from "node:stream/consumers";
import { Connections, http } from "./connections.ts";
import { eventually } from "../testing/fake-clock.ts";

/** Starts a server that counts its open connections. */
async function serve() {
  const server = createServer((_, response) => response.end("{}"));
  server.keepAliveTimeout = 0; // the client closes connections
  const open = new Set<object>();
  server.on("connection", (socket) => {
    open.add(socket);
    socket.on("close", () => open.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const url = new URL(`http://127.0.0.1:${typeof address === "object" && address ? address.port : 0}`);
  return {
    url,
    open,
    async get(agent: Agent) {
      const answer = await new Promise<AsyncIterable<Buffer>>((resolve) => http.get(url, { agent }, resolve));
      return text(answer);
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const identity = (cert: string) => ({ ca: undefined, cert, key: undefined });

describe("Connections", () => {
  it("reuses connections until the identity changes and then closes them", async () => {
    await using server = await serve();
    using connections = new Connections({ server: server.url, namespace: "ns" });
    const first = identity("first");
    await server.get(connections.agent(first));
    const [kept] = server.open;
    await server.get(connections.agent(first));
    expect([...server.open]).toEqual([kept]);

    await server.get(connections.agent(identity("second")));
    await eventually(() => server.open.size === 1);
    expect(server.open).not.toContain(kept);
  });

  it("closes a connection in use after its request when the identity changes", async () => {
    await using server = await serve();
    using connections = new Connections({ server: server.url, namespace: "ns" });
    const underWay = server.get(connections.agent(identity("first")));
    connections.agent(identity("second"));
    expect(await underWay).toBe("{}");
    await eventually(() => server.open.size === 0);
  });

  it("throws BadConfig for an invalid certificate", () => {
    using connections = new Connections({ server: new URL("https://api"), namespace: "ns" });
    expect(() => connections.agent(identity("no PEM"))).toThrow("BadConfig");
  });

  it("closes all idle connections when it is disposed", async () => {
    await using server = await serve();
    const connections = new Connections({ server: server.url, namespace: "ns" });
    const same = identity("same");
    await Promise.all([server.get(connections.agent(same)), server.get(connections.agent(same))]);
    expect(server.open.size).toBe(2);
    connections[Symbol.dispose]();
    await eventually(() => server.open.size === 0);
  });
});
