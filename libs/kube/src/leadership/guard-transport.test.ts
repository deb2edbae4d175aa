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
      [Symbol.asyncDispose]: () => Promise.reject(new Error("not the guard's to dispose of")),
    };
    return { transport: guardTransport(inner, () => leftMs), sent };
  }

  it("gives a write no more time than the lease has left, here and on the server", async () => {
    const { transport, sent } = guarded(4_200.7);
    await transport.request(patch);
    await transport.request({ ...patch, timeoutMs: 1_000 });
    expect(sent).toMatchObject([
      { ...patch, timeoutMs: 4_200, query: { force: true, timeout: "4200ms" } },
      { ...patch, timeoutMs: 1_000, query: { force: true, timeout: "1000ms" } },
    ]);
  });

  it.each([0.9, 0, -1, -Infinity])("sends no write with %s ms left", async (leftMs) => {
    const { transport, sent } = guarded(leftMs);
    for (const method of ["POST", "PUT", "PATCH", "DELETE"] as const) {
      await expect(transport.request({ ...patch, method })).rejects.toMatchObject({ code: "NotLeading" });
    }
    expect(sent).toEqual([]);
  });

  it("has the transport ask again before the first byte", async () => {
    let leftMs = 5_000;
    const { transport } = guarded(0);
    // Connects for too long.
    const request = async ({ beforeSend }: TransportRequest) => {
      leftMs = await Promise.resolve(0.5);
      beforeSend?.();
    };
    const writing = guardTransport({ ...transport, request }, () => leftMs).request(patch);
    await expect(writing).rejects.toMatchObject({ code: "NotLeading" });
  });

  it("sends nothing on a connection that opened while the process stood still", async () => {
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
      await new Promise((resolve) => setTimeout(resolve, 1)); // in the timers' phase: I/O is what comes next
      const endMs = performance.now() + 20;
      const writing = guardTransport(transport, () => endMs - performance.now()).request(patch);
      for (let tick = 0; tick < round; tick++) await new Promise(process.nextTick); // it connects
      while (performance.now() < endMs + 5); // the event loop stands still
      await expect(writing).rejects.toMatchObject({ name: "KubeError" });
      await transport.request({ method: "GET", path: "/" }); // what was sent before has arrived by now
    }
    expect(arrived).toEqual(Array.from({ length: 8 }, () => "GET"));
  });

  it("lets reads pass at any time, and leaves the transport to its owner", async () => {
    const { transport, sent } = guarded(-1);
    const get: TransportRequest = { method: "GET", path: "/api/v1/nodes" };
    await transport.request(get);
    expect(await Array.fromAsync(transport.watch({ path: "/api/v1/nodes" }))).toEqual([]);
    await transport[Symbol.asyncDispose]();
    expect(sent).toEqual([get]);
  });
});
