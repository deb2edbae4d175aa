// SPDX-License-Identifier: Apache-2.0
/**
 * `switchyard verify` with the real program in the pods and the kernel's network: pods are network namespaces on a bridge for each VLAN. Each
 * fault must be named with its layer. e2e/cluster/verify.test.ts has the same faults on a node with VFs.
 */
import { describe, expect, it } from "@jest/globals";
import { systemClock } from "@switchyard/kube";
import { missingForNamespaces } from "@switchyard/netlink/testing";
import { collectObjects } from "../cluster/cluster-objects.ts";
import { createSnapshot } from "../diagnosis/snapshot.ts";
import { toManifest } from "../json.ts";
import { silentDiagnostics } from "../terminal.ts";
import { node } from "../testing/objects.ts";
import type { Check } from "./layers.ts";
import { createNamespaceCluster, type Fault } from "./testing/namespace-cluster.ts";
import { verifyNetwork } from "./verify-network.ts";

const missing = missingForNamespaces();
const describeOrSkip = missing === undefined ? describe : describe.skip;

/** A node with three free VFs: one pod answers, one sends, and one is in the other VLAN. */
function snapshot() {
  const namespace = "sriov-network-operator";
  const status = {
    allocatable: { "openshift.io/fast": "3" },
    conditions: [{ type: "Ready", status: "True", lastTransitionTime: "2026-11-28T10:00:00Z" }],
  };
  const manifests = [toManifest({ ...node("w1"), status }, "test")].filter((manifest) => manifest !== undefined);
  const cluster = collectObjects(manifests, { namespace, diagnostics: silentDiagnostics, isIgnoredNoted: false });
  return createSnapshot(manifests, cluster, { namespace, resourcePrefix: "openshift.io" });
}

async function verifyWith(fault?: Fault, throughputSeconds = 0): Promise<Check> {
  await using cluster = await createNamespaceCluster({ blue: 100, green: 200 }, fault);
  const { checks } = await verifyNetwork(
    snapshot(),
    {
      network: { namespace: "apps", name: "blue" },
      kind: "SriovNetwork",
      resource: "openshift.io/fast",
      vlan: 100,
      other: { network: { namespace: "apps", name: "green" }, vlan: 200 },
    },
    {
      client: cluster,
      image: "none",
      timeoutMs: 50_000,
      throughputSeconds,
      signal: new AbortController().signal,
      clock: systemClock,
      note: () => undefined,
      nodes: [],
      nextRun: () => "0a1b",
    },
  );
  expect(cluster.names()).toEqual([]);
  const [check] = checks;
  if (check === undefined || checks.length > 1) throw new Error("one pair of pods gives one check");
  return check;
}

const faults: readonly (readonly [layer: string, Fault])[] = [
  ["link", onFirst(({ ip }) => ip("link", "set", "net1", "down"))],
  ["mac", ({ ip }) => ip("link", "set", "net1", "address", "02:00:00:00:77:01")],
  [
    "route",
    async ({ address, ip }) => {
      await ip("address", "flush", "dev", "net1");
      await ip("address", "add", `${address}/32`, "dev", "net1");
    },
  ],
  ["vlan", onFirst(({ setVlan }) => setVlan(200))],
  ["mtu", onFirst(({ ip }) => ip("link", "set", "net1", "mtu", "1400"))],
];

/** A fault of the pod that answers only. */
function onFirst(fault: Fault): Fault {
  return (pod) => (pod.index === 0 ? fault(pod) : Promise.resolve());
}

describeOrSkip(`verify with real packets${missing === undefined ? "" : ` (${missing})`}`, () => {
  it("passes a network that works, and names the layer of each fault", async () => {
    const [good, ...broken] = await Promise.all([
      verifyWith(undefined, 1),
      ...faults.map(([, fault]) => verifyWith(fault)),
    ]);
    const notOk = good.results.filter(({ status }) => status !== "ok").map(({ layer }) => layer);
    expect(notOk).toEqual(["rdma"]);
    expect(broken.map(({ failedLayer }) => failedLayer)).toEqual(faults.map(([layer]) => layer));
  }, 120_000);
});
