// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { KubeError, type Transport } from "@switchyard/kube";
import { Registry } from "../metrics.ts";
import { measureTransport } from "./measure-transport.ts";

/** Answers requests, and rejects those whose path contains an error code. */
const transport: Transport = {
  namespace: "ns",
  request: ({ method, path }) => {
    return path === "/ok" ? Promise.resolve("answer") : Promise.reject(new KubeError(method, path.slice(1)));
  },
  async *watch({ path }) {
    yield await Promise.resolve({ type: "BOOKMARK", resourceVersion: "7" } as const);
    if (path !== "/ok") throw new KubeError("watch", path.slice(1));
  },
  [Symbol.asyncDispose]: () => Promise.resolve(),
};

async function read(measured: Transport, path: string): Promise<void> {
  for await (const _event of measured.watch({ path }));
}

describe("measureTransport", () => {
  it("returns the answers of the transport and counts them by verb and code", async () => {
    const registry = new Registry();
    const measured = measureTransport(transport, registry);
    expect(await measured.request({ method: "GET", path: "/ok" })).toBe("answer");
    await expect(measured.request({ method: "PATCH", path: "/Conflict" })).rejects.toMatchObject({ code: "Conflict" });
    await read(measured, "/ok");
    await expect(read(measured, "/Expired")).rejects.toMatchObject({ code: "Expired" });

    const text = await registry.metrics();
    expect(text.split("\n").filter((line) => line.startsWith("switchyard_api_requests_total"))).toEqual([
      'switchyard_api_requests_total{verb="GET",code="OK"} 1',
      'switchyard_api_requests_total{verb="PATCH",code="Conflict"} 1',
      'switchyard_api_requests_total{verb="WATCH",code="OK"} 1',
      'switchyard_api_requests_total{verb="WATCH",code="Expired"} 1',
    ]);
    expect(text).toContain('switchyard_api_request_seconds_count{verb="PATCH"} 1');
  });
});
