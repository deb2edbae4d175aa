// SPDX-License-Identifier: Apache-2.0
import { expect, it } from "@jest/globals";
import type { SriovNetworkNodeState } from "@switchyard/api";
import type { TransportRequest } from "@switchyard/kube";
import { createHandOver } from "./hand-over.ts";

/** An API server with one node state, and the requests that it got. */
function apiServer(stored: Pick<SriovNetworkNodeState, "spec" | "status">) {
  const requests: TransportRequest[] = [];
  const metadata = { name: "worker-1", uid: "u", resourceVersion: "7" };
  const request = (sent: TransportRequest): Promise<unknown> => {
    requests.push(sent);
    return Promise.resolve({ metadata, ...stored });
  };
  return { requests, handOver: createHandOver({ transport: { request }, namespace: "sriov", manager: "m" }) };
}

const cached = (state: Pick<SriovNetworkNodeState, "spec" | "status">): SriovNetworkNodeState => ({
  apiVersion: "sriovnetwork.openshift.io/v1",
  kind: "SriovNetworkNodeState",
  metadata: { name: "worker-1" },
  ...state,
});
const { signal } = new AbortController();

it("asks nobody on a node that has never moved", async () => {
  const { handOver, requests } = apiServer({});
  expect(await handOver.confirm(cached({}), signal)).toEqual({
    wanted: "devicePlugin",
    offeredBy: "devicePlugin",
    hasMoved: false,
  });
  expect(requests).toEqual([]);
});

it("trusts the API server, not the cache, before it begins to offer VFs", async () => {
  const { handOver } = apiServer({ status: { offeredBy: "dra" } });
  const { offeredBy, hasMoved } = await handOver.confirm(cached({ status: { offeredBy: "devicePlugin" } }), signal);
  expect([offeredBy, hasMoved]).toEqual(["dra", true]);
});

it("passes the right on for the version that it has read, and only if it has it", async () => {
  const { handOver, requests } = apiServer({ spec: { allocation: "dra" } });
  await handOver.write(cached({ spec: { allocation: "dra" } }), signal);
  expect(requests.map(({ method, path, body }) => ({ method, path, body }))).toEqual([
    { method: "GET", path: expect.stringMatching(/sriovnetworknodestates\/worker-1$/) as unknown, body: undefined },
    {
      method: "PATCH",
      path: expect.stringMatching(/worker-1\/status$/) as unknown,
      body: { metadata: { uid: "u", resourceVersion: "7" }, status: { offeredBy: "dra" } },
    },
  ]);
  const other = apiServer({ status: { offeredBy: "dra" } });
  await other.handOver.write(cached({}), signal);
  expect(other.requests.map(({ method }) => method)).toEqual(["GET"]);
});
