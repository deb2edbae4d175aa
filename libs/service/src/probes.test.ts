// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { createMetrics, Counter } from "./metrics.ts";
import { startProbes, type ProbeOptions } from "./probes.ts";
import { request } from "node:https";

const local = { host: "127.0.0.1", port: 0 };

function options(some: Partial<ProbeOptions>): ProbeOptions {
  const metrics = createMetrics({ name: "test", version: "1.2.3" });
  return {
    name: "test",
    healthAddress: "off",
    metricsAddress: "off",
    notReady: () => [],
    notAlive: () => [],
    metrics,
    ...some,
  };
}

async function get(port: number | undefined, path: string, init?: RequestInit): Promise<[number, string]> {
  const response = await fetch(`http://127.0.0.1:${port ?? 0}${path}`, init);
  return [response.status, await response.text()];
}

/** Reads /metrics over TLS without verifying the certificate, as Prometheus does. */
function scrape(port: number | undefined, token?: string): Promise<readonly [number | undefined, string]> {
  const { promise, resolve, reject } = Promise.withResolvers<readonly [number | undefined, string]>();
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const options = { host: "127.0.0.1", port, path: "/metrics", headers, rejectUnauthorized: false };
  request(options, (response) => {
    let body = "";
    response.on("data", (part: Buffer) => {
      body += part.toString();
    });
    response.on("end", () => {
      resolve([response.statusCode, body]);
    });
  })
    .on("error", reject)
    .end();
  return promise;
}

describe("startProbes", () => {
  it("serves secure metrics over TLS, only to tokens that may read them", async () => {
    const decisions: Readonly<Record<string, "allowed" | "forbidden" | "unknown">> = {
      good: "allowed",
      other: "forbidden",
      outage: "unknown",
    };
    const reviewScrape = (token: string) => Promise.resolve(decisions[token] ?? ("unauthenticated" as const));
    await using probes = await startProbes(options({ metricsAddress: local, reviewScrape }));
    const statuses = ["good", "other", "outage", "bad", undefined].map(async (token) => {
      const [status, body] = await scrape(probes.metricsPort, token);
      return [token, status, body.includes("switchyard_build_info")];
    });
    expect(await Promise.all(statuses)).toEqual([
      ["good", 200, true],
      ["other", 403, false],
      ["outage", 503, false],
      ["bad", 401, false],
      [undefined, 401, false],
    ]);
    await expect(get(probes.metricsPort, "/metrics")).rejects.toThrow(); // plain HTTP
  });

  it("refuses secure metrics at the address of the probes, which the kubelet calls without a token", async () => {
    const address = { host: "127.0.0.1", port: 18_443 };
    const same = { healthAddress: address, metricsAddress: address };
    const reviewScrape = () => Promise.resolve("allowed" as const);
    await expect(startProbes(options({ ...same, reviewScrape }))).rejects.toMatchObject({ code: "LISTEN_FAILED" });
  });

  it("serves /healthz and /readyz, with the reasons for not ready", async () => {
    const reasons = ["nodes: cache is not synced", "no lease"];
    await using probes = await startProbes(options({ healthAddress: local, notReady: () => reasons }));
    expect(await get(probes.healthPort, "/healthz")).toEqual([200, "ok\n"]);
    expect(await get(probes.healthPort, "/readyz")).toEqual([503, "nodes: cache is not synced\nno lease\n"]);
    reasons.length = 0;
    expect(await get(probes.healthPort, "/readyz?verbose")).toEqual([200, "ok\n"]);
  });

  it("serves the reasons to restart the process", async () => {
    const reasons = ["the main loop has been blocked for 16 min"];
    await using probes = await startProbes(options({ healthAddress: local, notAlive: () => reasons }));
    expect(await get(probes.healthPort, "/healthz")).toEqual([503, "the main loop has been blocked for 16 min\n"]);
    reasons.length = 0;
    expect(await get(probes.healthPort, "/healthz")).toEqual([200, "ok\n"]);
  });

  it("serves the default metrics and added ones", async () => {
    const some = options({ metricsAddress: local });
    new Counter({ name: "switchyard_plans_total", help: "Number of plans made.", registers: [some.metrics] }).inc(2);
    await using probes = await startProbes(some);
    const [status, body] = await get(probes.metricsPort, "/metrics");
    expect(status).toBe(200);
    expect(body).toContain('switchyard_build_info{component="test",version="1.2.3"} 1\n');
    expect(body).toMatch(/^process_cpu_seconds_total [0-9.]+$/m);
    expect(body).toMatch(/^process_resident_memory_bytes \d{7,}$/m);
    expect(body).toMatch(/^nodejs_eventloop_busy_seconds_total [0-9.e-]+$/m);
    expect(body).toContain("switchyard_plans_total 2\n");
  });

  it("serves health and metrics on one server only when they have the same address", async () => {
    await using apart = await startProbes(
      options({ healthAddress: local, metricsAddress: { ...local, host: "localhost" } }),
    );
    expect(await get(apart.healthPort, "/metrics")).toEqual([404, "not found; available: /healthz /readyz\n"]);
    await using shared = await startProbes(options({ healthAddress: local, metricsAddress: local }));
    expect(shared.metricsPort).toBe(shared.healthPort);
    expect(await get(shared.metricsPort, "/healthz")).toEqual([200, "ok\n"]);
    expect((await get(shared.metricsPort, "/metrics"))[0]).toBe(200);
  });

  it("accepts only GET and HEAD", async () => {
    await using probes = await startProbes(options({ healthAddress: local }));
    expect(await get(probes.healthPort, "/healthz", { method: "POST" })).toEqual([
      405,
      "method not allowed; use GET\n",
    ]);
    expect(await get(probes.healthPort, "/healthz", { method: "HEAD" })).toEqual([200, ""]);
  });

  it("opens no port when the addresses are off", async () => {
    await using probes = await startProbes(options({}));
    expect([probes.healthPort, probes.metricsPort]).toEqual([undefined, undefined]);
  });

  it("names the address that is in use and closes the server that has started", async () => {
    await using taken = await startProbes(options({ healthAddress: local }));
    const port = taken.healthPort ?? 0;
    const attempt = startProbes(
      options({ healthAddress: { host: "localhost", port: 0 }, metricsAddress: { ...local, port } }),
    );
    await expect(attempt).rejects.toMatchObject({
      code: "LISTEN_FAILED",
      message: `listen on 127.0.0.1:${port}: EADDRINUSE`,
      cause: { syscall: "listen" },
    });
  });

  it("closes while a client keeps its connection open", async () => {
    const probes = await startProbes(options({ healthAddress: local }));
    await get(probes.healthPort, "/healthz"); // fetch keeps the connection alive
    await probes[Symbol.asyncDispose]();
    await expect(get(probes.healthPort, "/healthz")).rejects.toThrow();
  });
});
