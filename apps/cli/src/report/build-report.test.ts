// SPDX-License-Identifier: Apache-2.0
import { beforeAll, describe, expect, it } from "@jest/globals";
import { collectObjects } from "../cluster/cluster-objects.ts";
import { diagnose } from "../diagnosis/diagnose.ts";
import { listVfs } from "../diagnosis/list-vfs.ts";
import { createSnapshot, type Snapshot } from "../diagnosis/snapshot.ts";
import { client, healthyCluster, type Editable } from "../diagnosis/testing/healthy-cluster.ts";
import { silentDiagnostics } from "../terminal.ts";
import { listAt, textAt, toManifest } from "../json.ts";
import { planOffloadedWithPods } from "../ovn-offload/plan-offloaded.ts";
import { parseFlags } from "../flags.ts";
import { buildReport } from "./build-report.ts";
import { renderPage } from "./render-page.ts";
import type { Report } from "./report.ts";

const namespace = "sriov-network-operator";
let healthy: readonly Editable[] = [];

beforeAll(async () => {
  healthy = await healthyCluster();
});

/** Through JSON: the CEL library knows only arrays of its own realm, and those of structuredClone are not. */
function copyOf(objects: readonly Editable[]): Editable[] {
  return JSON.parse(JSON.stringify(objects)) as Editable[];
}

function snapshotOf(objects: readonly Editable[]): Snapshot {
  const manifests = objects.flatMap((object) => toManifest(object, "test") ?? []);
  const cluster = collectObjects(manifests, { namespace, diagnostics: silentDiagnostics });
  return createSnapshot(manifests, cluster, { namespace, resourcePrefix: "openshift.io" });
}

function reportOf(objects: readonly Editable[]): Report {
  const snapshot = snapshotOf(objects);
  const { flags } = parseFlags([], []);
  const plans = planOffloadedWithPods(snapshot.cluster, flags, silentDiagnostics);
  return buildReport(snapshot, { command: "doctor", rows: listVfs(snapshot), diagnosis: diagnose(snapshot), plans });
}

/** The node state of a node of a copy of the healthy cluster, and the copy. */
function withState(name: string, change: (status: Editable) => void): readonly Editable[] {
  const objects = copyOf(healthy);
  const state = objects.find((each) => {
    return each["kind"] === "SriovNetworkNodeState" && textAt(each["metadata"], "name") === name;
  });
  change(state?.["status"] as Editable);
  return objects;
}

function afxdpState(name: string, status: object = {}): Editable {
  const xdp = { native: true, zeroCopy: true, program: { id: 7, name: "switchyard_xsk" } };
  const subfunction = {
    sfNumber: 4,
    name: "<b>sf",
    driver: "mlx5_core.sf",
    poolName: "fast",
    state: "active",
    mtu: 9000,
  };
  const device = { pciAddress: "0000:5e:00.0", name: "ens2f0", driver: "mlx5_core", queues: 8, mtu: 1500 };
  return {
    apiVersion: "afxdpnetwork.hns.dev/v1alpha1",
    kind: "AfxdpNetworkNodeState",
    metadata: { name, namespace },
    status: {
      syncStatus: "Succeeded",
      interfaces: [
        {
          ...device,
          linkAdminState: "up",
          owned: true,
          xdp,
          subfunctions: [{ ...subfunction, xdp: { native: false } }],
        },
        { pciAddress: "0000:00:03.0", name: "eth0", driver: "virtio_net" },
      ],
      pools: [{ name: "fast", announced: 1, allocatable: 0, error: "a foreign XDP program" }],
      ...status,
    },
  };
}

describe("buildReport", () => {
  it("describes a healthy cluster: nodes, PFs, VFs that look the same in one row", () => {
    const { summary, findings, plans, nodes, columns } = reportOf(healthy);
    expect({ summary, findings, plans }).toEqual({ summary: "Doctor: 0 errors, 0 warnings.", findings: [], plans: [] });
    expect(nodes.map(({ name, health, words }) => ({ name, health, words }))).toEqual([
      { name: "worker-1", health: "healthy", words: "healthy" },
      { name: "worker-2", health: "healthy", words: "healthy" },
    ]);
    expect(columns).toEqual(["Resource", "Policy", "Driver", "MTU", "Pod"]);
    expect(nodes[0]?.pfs[0]).toMatchObject({
      name: "ens1f0",
      words: expect.stringContaining("0000:3b:00.0"),
      usage: expect.stringMatching(/^4 of \d+ VFs$/),
      bars: [{ use: "maybe", count: 4 }],
      rows: [{ vfs: "0–3", cells: ["nics", "fast", "iavf", "1500", "perhaps apps/client-0"] }],
    });
  });

  it("shows AF_XDP devices, pools and bridges of a node, and a failure of either daemon part", () => {
    const bridge = {
      name: "br-ens1f0",
      uplinks: [{ pciAddress: "0000:3b:00.0", name: "ens1f0", error: "no such port" }],
    };
    const withBridge = withState("worker-1", (status) => Object.assign(status, { bridges: { ovs: [bridge] } }));
    const report = reportOf([...withBridge, afxdpState("worker-1"), afxdpState("worker-9", { syncStatus: "Failed" })]);
    const [failed, one] = report.nodes;
    expect([failed?.name, failed?.health, failed?.pfs]).toEqual(["worker-9", "error", []]);
    expect(failed?.facts).toContainEqual({ label: "Synchronisation of AF_XDP", value: "Failed" });
    expect(one?.tables).toEqual([
      {
        title: "AF_XDP devices",
        heads: ["Device", "Driver", "Pool", "State", "Queues", "MTU", "XDP"],
        rows: [
          ["ens2f0", "mlx5_core", "-", "link up", "8", "1500", "native, without copying, program switchyard_xsk"],
          ["ens2f0, subfunction 4 (<b>sf)", "mlx5_core.sf", "fast", "active", "-", "9000", "generic"],
        ],
      },
      {
        title: "AF_XDP pools",
        heads: ["Pool", "Announced", "Healthy", "Problem"],
        rows: [["fast", "1", "0", "a foreign XDP program"]],
      },
      {
        title: "Software bridges",
        heads: ["Bridge", "Kind", "Uplinks", "Problem"],
        rows: [["br-ens1f0", "Open vSwitch", "ens1f0 (0000:3b:00.0)", "no such port"]],
      },
    ]);
    const page = renderPage(report);
    expect(page).toContain("<td>ens2f0, subfunction 4 (&lt;b&gt;sf)</td>");
  });

  it("puts nodes with errors first, with what their daemon reports", () => {
    const failed = withState("worker-2", (status) => {
      Reflect.deleteProperty(status, "conditions"); // as the Go operator's
      Object.assign(status, { syncStatus: "Failed", lastSyncError: "set mtu 9000 on 0000:3b:00.0: EINVAL" });
    });
    const { nodes, findings } = reportOf(failed);
    expect(nodes.map(({ name, health }) => `${name} ${health}`)).toEqual(["worker-2 error", "worker-1 healthy"]);
    expect(nodes[0]?.facts).toContainEqual({ label: "Error", value: "set mtu 9000 on 0000:3b:00.0: EINVAL" });
    expect(findings?.[0]?.findings[0]).toMatchObject({ node: "worker-2" });
  });

  it("has one group for nodes with the same steps", () => {
    const bare = copyOf(healthy);
    for (const pf of bare.flatMap((each) => listAt(each, "status", "interfaces"))) {
      Object.assign(pf ?? {}, { numVfs: 0, Vfs: [] });
    }
    const { plans } = reportOf(bare);
    expect(plans).toHaveLength(1);
    expect(plans?.[0]).toMatchObject({ nodes: ["worker-1", "worker-2"], impact: "none" });
    expect(plans?.[0]?.steps[0]).toEqual({ sign: "+", text: expect.stringContaining("sriov_numvfs 0 -> 4") });
  });

  it("describes some of many findings with the same code, and names the other objects", () => {
    const many = Array.from({ length: 30 }, (_, at) => {
      const pod = client(`waiting-${`${at}`.padStart(2, "0")}`);
      const requests = { [`openshift.io/unknown-${at}`]: "1" };
      return { ...pod, spec: { containers: [{ name: "main", resources: { requests, limits: requests } }] } };
    });
    const group = reportOf([...healthy, ...many]).findings?.find(({ code }) => code === "ResourceOnNoNode");
    expect({ described: group?.findings.length, more: group?.more.length }).toEqual({ described: 10, more: 20 });
    expect(group?.more[0]).toBe("Pod/apps/waiting-10");
  });
});

describe("renderPage", () => {
  it("names the cluster, and does not call nodes healthy that nobody has examined", () => {
    const source = { name: "lab", server: "10.0.0.1", version: "v1.36.3" };
    const snapshot = { ...snapshotOf(healthy), source };
    const report = buildReport(snapshot, { command: "vfs", rows: listVfs(snapshot) });
    expect(report.facts).toEqual(expect.arrayContaining([{ label: "Server", value: "10.0.0.1" }]));
    const html = renderPage(report);
    expect(html).toContain("<title>Switchyard: VFs of lab</title>");
    expect(html).toContain("2 configured, not examined");
    expect(html).not.toContain("healthy<");
  });

  it("is the same for the same input", () => {
    expect(renderPage(reportOf(healthy))).toBe(renderPage(reportOf(copyOf(healthy))));
  });

  it("escapes texts of users, and leaves out what would change the text around them", () => {
    const hostile = withState("worker-2", (status) => {
      Object.assign(status, { syncStatus: "Failed", lastSyncError: `<script>"&'\u202e\u0007${"x".repeat(5_000)}` });
    });
    const html = renderPage(reportOf(hostile));
    expect(html).toContain("&lt;script&gt;&quot;&amp;");
    expect(html).not.toMatch(/<script|[\u0007\u202e]/);
    expect(html).toContain("(5013 characters)");
  });
});
