// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { once } from "node:events";
import { createServer } from "node:http";
import { HttpTransport } from "../http/http-transport.ts";
import { guardTransport } from "./guard-transport.ts";
import type { Transport, TransportRequest, WatchEvent } from "../http/transport.ts";

describe("guardTransport", () => {
  const patch: TransportRequest = { method: "PATCH", path: "/api/v1/nodes/a", query: { force: true }, body: {} };

  function guarded(leftMs: number): { readonly transport: Transport; readonly sent: TransportRequest[] } {
    const sent: TransportRequest[] = [];
    const inner: Transport = {
      namespace: "ns",
      request: (request) => Promise.resolve(sent.push(request)),
      watch: async function* (): AsyncGenerator<WatchEvent> {},
      [Symbol.asyncDispose]: () => Promise.reject(new Error("unexpected dispose")),
    };
    return { transport: guardTransport(inner, () => leftMs), sent };
  }

  it("limits a write to the remaining time of the lease, here and on the server", async () => {
    const { transport, sent } = guarded(4_200.7);
    await transport.request(patch);
    await transport.request({ ...patch, timeoutMs: 1_000 });
    expect(sent).toMatchObject([
      { ...patch, timeoutMs: 4_200, query: { force: true, timeout: "4200ms" } },
      { ...patch, timeoutMs: 1_000, query: { force: true, timeout: "1000ms" } },
    ]);
  });

  it.each([0.9, 0, -1, -Infinity])("rejects all writes with %s ms left", async (leftMs) => {
    const { transport, sent } = guarded(leftMs);
    for (const method of ["POST", "PUT", "PATCH", "DELETE"] as const) {
      await expect(transport.request({ ...patch, method })).rejects.toMatchObject({ code: "NotLeading" });
    }
    expect(sent).toEqual([]);
  });

  it("checks the time again before the first byte", async () => {
    let leftMs = 5_000;
    const { transport } = guarded(0);
    // Connecting takes too long.
    const request = async ({ beforeSend }: TransportRequest) => {
      leftMs = await Promise.resolve(0.5);
      beforeSend?.();
    };
    const writing = guardTransport({ ...transport, request }, () => leftMs).request(patch);
    await expect(writing).rejects.toMatchObject({ code: "NotLeading" });
  });

  it("sends nothing on a connection that opened while the event loop was blocked", async () => {
    const arrived: unknown[] = [];
    await using server = createServer((request, response) => {
      arrived.push(request.method);
      response.end("{}");
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    const address = server.address();
    const url = new URL(`http://127.0.0.1:${typeof address === "object" ? (address?.port ?? 0) : ""}`);

    for (let round = 0; round < 8; round++) {
      await using transport = new HttpTransport({ server: url, namespace: "ns" });
      await new Promise((resolve) => setTimeout(resolve, 1)); // continue in the timers phase, before I/O
      const endMs = performance.now() + 20;
      const writing = guardTransport(transport, () => endMs - performance.now()).request(patch);
      for (let tick = 0; tick < round; tick++) await new Promise(process.nextTick); // the socket connects
      while (performance.now() < endMs + 5); // block the event loop
      await expect(writing).rejects.toMatchObject({ name: "KubeError" });
      await transport.request({ method: "GET", path: "/" }); // earlier requests have arrived when this one is answered
    }
    expect(arrived).toEqual(Array.from({ length: 8 }, () => "GET"));
  });

  it("allows reads at any time and does not dispose the transport", async () => {
    const { transport, sent } = guarded(-1);
    const get: TransportRequest = { method: "GET", path: "/api/v1/nodes" };
    await transport.request(get);
    expect(await Array.fromAsync(transport.watch({ path: "/api/v1/nodes" }))).toEqual([]);
    await transport[Symbol.asyncDispose]();
    expect(sent).toEqual([get]);
  });
});
