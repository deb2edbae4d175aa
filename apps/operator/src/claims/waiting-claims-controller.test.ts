// SPDX-License-Identifier: Apache-2.0
import { expect, it } from "@jest/globals";
import { draDriverName, type DeviceClass } from "@switchyard/api";
import type { EventToRecord, Transport } from "@switchyard/kube";
import { createWaitingClaimsReconciler } from "./waiting-claims-controller.ts";

const now = Date.parse("2026-01-01T01:00:00Z");
const isOurs = `device.driver == "${draDriverName}"`;
const fast: DeviceClass = {
  apiVersion: "resource.k8s.io/v1",
  kind: "DeviceClass",
  metadata: { name: "fast" },
  spec: { selectors: [{ cel: { expression: isOurs } }] },
};
const slice = (...taints: readonly object[]) => ({
  metadata: { name: "worker-1-sriov-0" },
  spec: {
    driver: draDriverName,
    nodeName: "worker-1",
    pool: { name: "worker-1", generation: 1 },
    devices: [{ name: "0000-3b-02-0", attributes: {}, taints }],
  },
});
const claim = (name: string, deviceClassName: string) => ({
  metadata: { name, namespace: "apps", uid: `uid-of-${name}` },
  spec: { devices: { requests: [{ name: "nic", exactly: { deviceClassName } }] } },
});
const pod = (resourceClaimName: string, minutesAgo: number) => ({
  metadata: {
    name: `pod-of-${resourceClaimName}`,
    namespace: "apps",
    creationTimestamp: new Date(now - minutesAgo * 60_000).toISOString(),
  },
  spec: { containers: [], resourceClaims: [{ name: "nic", resourceClaimName }] },
});

function setUp() {
  const cluster = {
    usesClaims: true,
    pods: [pod("mine", 5), pod("new", 0)] as readonly object[],
    claims: [claim("mine", "fast"), claim("new", "fats"), claim("unused", "fats")] as readonly object[],
    slices: [slice({ key: "switchyard.io/unhealthy", value: "no-carrier", effect: "NoSchedule" })] as readonly object[],
  };
  const requests: string[] = [];
  const recorded: EventToRecord[] = [];
  const request: Transport["request"] = ({ path }) => {
    requests.push(path);
    const items = path.endsWith("/pods")
      ? cluster.pods
      : path.endsWith("/resourceclaims")
        ? cluster.claims
        : cluster.slices;
    return Promise.resolve({ metadata: { resourceVersion: "1" }, items });
  };
  const reconcile = createWaitingClaimsReconciler({
    transport: { request },
    classes: { list: () => [fast] },
    states: { list: () => [{ name: "worker-1", spec: { allocation: "dra" } }] },
    resourcePrefix: "openshift.io",
    usesClaims: () => cluster.usesClaims,
    events: { record: (event) => void recorded.push(event) },
    nowMs: () => now,
  });
  return { cluster, requests, recorded, run: () => reconcile("all", new AbortController().signal) };
}

it("says once for each cause why a claim is not allocated that a pod waits for", async () => {
  const { cluster, recorded, run } = setUp();
  expect(await run()).toEqual({ afterMs: 30_000 });
  await run();
  expect(recorded.map(({ regarding, reason, note }) => [regarding.metadata.name, reason, note])).toEqual([
    [
      "mine",
      "ClaimWaits",
      'spec.devices.requests[0].exactly.deviceClassName: claims cannot have any VF of class "fast" now; node worker-1: claims have 0 of 1 VF; 1 VF has the taint switchyard.io/unhealthy=no-carrier (no carrier: check the cable and the switch); 0 VFs are free',
    ],
  ]);
  cluster.slices = [];
  await run();
  expect(recorded.at(-1)?.note).toContain('no ResourceSlice has a VF of class "fast"');
  expect(recorded.at(-1)?.note).toContain("nodes that give VFs to ResourceClaims: worker-1");
  cluster.slices = [slice()];
  await run();
  expect(recorded).toHaveLength(2);
});

it.each(["1970-01-01T00:01:00Z", "2040-01-01T00:00:00Z"])(
  "does not wait for years for a pod of a clock that was not set: %s",
  async (time) => {
    const { cluster, recorded, run } = setUp();
    cluster.pods = [pod("mine", 0)].map(({ metadata, ...rest }) => ({
      ...rest,
      metadata: { ...metadata, creationTimestamp: time },
    }));
    await run();
    expect(recorded.map(({ regarding }) => regarding.metadata.name)).toEqual(["mine"]);
  },
);

it("names no claims of other namespaces, whose users do not read each other's objects", async () => {
  const { cluster, recorded, run } = setUp();
  const results = [{ request: "nic", driver: draDriverName, pool: "worker-1", device: "0000-3b-02-0" }];
  const other = { ...claim("secret", "fast"), status: { allocation: { devices: { results } } } };
  cluster.slices = [slice()];
  cluster.claims = [...cluster.claims, other];
  await run();
  expect(recorded[0]?.note).toContain("node worker-1: claims have 1 of 1 VF; 0 VFs are free");
});

it("lists neither claims nor slices while no pod waits for claims, and nothing while no node uses claims", async () => {
  const { cluster, requests, run } = setUp();
  cluster.pods = [pod("new", 0)];
  await run();
  expect(requests.map((path) => path.split("/").at(-1))).toEqual(["pods"]);
  cluster.usesClaims = false;
  await run();
  expect(requests).toHaveLength(1);
});
