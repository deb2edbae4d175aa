// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { collectObjects } from "../cluster/cluster-objects.ts";
import { createSnapshot, type Snapshot } from "../diagnosis/snapshot.ts";
import { toManifest } from "../json.ts";
import { makePage } from "../report/build-report.ts";
import { textStyleOf, silentDiagnostics } from "../terminal.ts";
import { network, node, policy, state } from "../testing/objects.ts";
import { runCli } from "../testing/run-cli.ts";
import { candidatesFor, daemonImage, expectationFor, vlanOfVf } from "../verify/node-facts.ts";
import { judgeGroup, type Verification } from "../verify/verify-network.ts";
import { findTargets, type TargetFlags } from "../verify/verify-target.ts";
import { verifyText } from "../verify/verify-text.ts";
import { answererWith, senderWith } from "../verify/testing/recorded-pods.ts";

function snapshotOf(...objects: readonly unknown[]): Snapshot {
  const namespace = "sriov-network-operator";
  const manifests = objects.flatMap((object) => toManifest(object, "test") ?? []);
  const cluster = collectObjects(manifests, { namespace, diagnostics: silentDiagnostics, isIgnoredNoted: false });
  return createSnapshot(manifests, cluster, { namespace, resourcePrefix: "openshift.io", readKinds: ["Pod"] });
}

const networks = [
  network("blue", { vlan: 100, networkNamespace: "apps" }),
  network("green", { vlan: 200, networkNamespace: "apps" }),
  network("elsewhere", { vlan: 300, resourceName: "others" }),
];

function targetsOf(flags: Partial<TargetFlags>, ...objects: readonly unknown[]) {
  const none = { network: undefined, policy: undefined, isolatedFrom: undefined };
  return findTargets(snapshotOf(...networks, policy("p"), ...objects), { ...none, ...flags });
}

describe("switchyard verify", () => {
  it("needs a cluster", async () => {
    const { code, err } = await runCli(["verify", "--network", "blue"]);
    expect([code, err]).toEqual([64, "switchyard: verify needs a cluster: --context NAME or --kubeconfig FILE\n"]);
  });

  it("finds a network, and one in another VLAN with the same resource", () => {
    expect(targetsOf({ network: "blue" })).toEqual([
      {
        network: { namespace: "apps", name: "blue" },
        kind: "SriovNetwork",
        resource: "openshift.io/nics",
        vlan: 100,
        other: { network: { namespace: "apps", name: "green" }, vlan: 200 },
      },
    ]);
    expect(targetsOf({ policy: "p" }).map((target) => target.network.name)).toEqual(["blue", "green"]);
  });

  it.each([
    [{}, "give one of --network NAME and --policy NAME"],
    [{ network: "red" }, "network red does not exist in namespace sriov-network-operator"],
    [{ policy: "q" }, "policy q does not exist"],
    [{ network: "blue", isolatedFrom: "blue" }, "are in the same VLAN"],
    [{ network: "blue", isolatedFrom: "elsewhere" }, "has the resource others, not nics"],
  ])("refuses %j", (flags, words) => {
    expect(() => targetsOf(flags)).toThrow(words);
  });

  it("counts the devices that are free on nodes that are Ready", () => {
    const withStatus = (name: string, allocatable: string, isReady = "True") => ({
      ...node(name),
      status: {
        allocatable: { "openshift.io/nics": allocatable },
        conditions: [{ type: "Ready", status: isReady, lastTransitionTime: "2026-11-28T10:00:00Z" }],
      },
    });
    const pod = {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: "app", namespace: "apps" },
      spec: { nodeName: "w1", containers: [{ name: "c", resources: { requests: { "openshift.io/nics": "3" } } }] },
      status: { phase: "Running" },
    };
    const groups = [{ resourceName: "nics", vfRange: "0-3", mtu: 9000, isRdma: true }];
    const wanted = {
      ...state("w3", 4),
      spec: {
        interfaces: [{ pciAddress: "0000:3b:00.0", numVfs: 4, vfGroups: groups }],
        system: { rdmaMode: "shared" },
      },
    };
    const others = [
      withStatus("w1", "4"),
      withStatus("w2", "4", "Unknown"),
      withStatus("w3", "0"),
      withStatus("w4", "0"),
    ];
    const snapshot = snapshotOf(...others, pod, wanted);
    expect(candidatesFor(snapshot, "openshift.io/nics", [])).toEqual({
      nodes: [
        { name: "w1", allocatable: 4, free: 1 },
        { name: "w3", allocatable: 0, free: 0 },
      ],
      leftOut: [{ node: "w2", isProblem: true, text: "node w2 is not Ready" }],
    });
    const [found] = snapshot.states;
    expect(expectationFor(found, { resource: "openshift.io/nics", vlan: 0 })).toMatchObject({
      mtu: 9000,
      isRdma: true,
      rdmaMode: "shared",
    });
    expect([vlanOfVf(found, "0000:3b:02.1"), vlanOfVf(found, "0000:00:00.0")]).toEqual([0, undefined]);
  });

  it("uses the image of the config daemon", () => {
    const containers = [{ name: "sriov-network-config-daemon", image: "daemon:1" }];
    const metadata = { name: "sriov-network-config-daemon", namespace: "sriov-network-operator" };
    const daemonSet = {
      apiVersion: "apps/v1",
      kind: "DaemonSet",
      metadata,
      spec: { template: { spec: { containers } } },
    };
    expect([daemonImage(snapshotOf(daemonSet)), daemonImage(snapshotOf())]).toEqual(["daemon:1", undefined]);
  });

  it("prints a table, the layers of what failed, and a page without scripts", () => {
    const views = [answererWith({ found: { mtu: 1400 } }), senderWith({ target: { throughputMbps: 9400 } })];
    const pods = [
      { node: "w1", role: "answers", targets: [] },
      { node: "w1", role: "sends", targets: ["w1"] },
    ] as const;
    const expected = { resource: "openshift.io/nics", vlan: 100, mtu: undefined, isRdma: false, rdmaMode: undefined };
    const checks = judgeGroup(pods, views, {
      others: [],
      otherVlan: 0,
      vlanOfVf: () => undefined,
      expectationOf: () => expected,
      isThroughputWanted: true,
    });
    const verification: Verification = {
      network: "apps/<b>blue",
      kind: "SriovNetwork",
      resource: "openshift.io/nics",
      vlan: 100,
      checks,
    };
    const text = verifyText([verification], textStyleOf({ write: () => undefined }, {}));
    expect(text).toContain("NODES      RESULT   FAILED LAYER");
    expect(text).toContain("w1 -> w1   failed   mtu            12 of 15   vlan, rdma    9400 Mbit/s");
    expect(text).toContain("w1 -> w1: failed at mtu\n  ok      scheduled");
    expect(text).toMatch(/failed {2}mtu {9}The interface of the pod b on node w1 has the MTU 1500/);
    expect(text).toMatch(/\n1 check: 1 failed\.\n$/);
    const page = makePage(snapshotOf(node("w1")), { command: "verify", rows: [], verifications: [verification] });
    expect(page).toContain("apps/&lt;b&gt;blue");
    expect(page).toContain("w1 -&gt; w1: failed at mtu");
    expect(page).not.toContain("<script");
  });
});
