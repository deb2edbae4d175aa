// SPDX-License-Identifier: Apache-2.0
import { beforeAll, describe, expect, it } from "@jest/globals";
import { client, healthyCluster, type Editable } from "../diagnosis/testing/healthy-cluster.ts";
import { at, listAt } from "../json.ts";
import { runCli } from "../testing/run-cli.ts";

let objects: Editable[] = [];

/** A pod whose status by Multus has the VF. */
function placedClient(name: string, address: string) {
  const pod = client(name, "worker-1");
  const status = [
    { name: "default/pod" },
    { name: "apps/net", "device-info": { type: "pci", pci: { "pci-address": address } } },
  ];
  const annotations = { ...pod.metadata.annotations, "k8s.v1.cni.cncf.io/network-status": JSON.stringify(status) };
  return { ...pod, metadata: { ...pod.metadata, annotations } };
}

const device = { driver: "nics.example.com", pool: "worker-2", device: "vf-3" };
const byClaim: readonly Editable[] = [
  {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "claimant", namespace: "apps" },
    status: { phase: "Running" },
    spec: { nodeName: "worker-2", containers: [], resourceClaims: [{ name: "nic", resourceClaimName: "nic" }] },
  },
  {
    apiVersion: "resource.k8s.io/v1",
    kind: "ResourceClaim",
    metadata: { name: "nic", namespace: "apps" },
    status: { allocation: { devices: { results: [{ request: "a", ...device }] } } },
  },
  {
    apiVersion: "resource.k8s.io/v1",
    kind: "ResourceSlice",
    metadata: { name: "s" },
    spec: {
      nodeName: "worker-2",
      driver: device.driver,
      pool: { name: device.pool, generation: 1, resourceSliceCount: 1 },
      devices: [{ name: device.device, attributes: { "resource.kubernetes.io/pciBusID": { string: "0000:3b:02.3" } } }],
    },
  },
];

beforeAll(async () => {
  objects = [...(await healthyCluster()), placedClient("placed", "0000:3b:02.1"), ...byClaim];
});

async function list(...flags: readonly string[]): Promise<readonly unknown[]> {
  const { code, out, err } = await runCli(["vfs", "-f", "-", "-o", "json", ...flags], { input: objects });
  expect({ code, err }).toEqual({ code: 0, err: "" });
  return listAt(JSON.parse(out), "vfs");
}

describe("switchyard vfs", () => {
  it("shows the pod that the daemon reports, also after its resource was renamed, and no guess at free VFs", async () => {
    const reported = structuredClone(objects);
    const state = reported.find(
      (object) => object.kind === "SriovNetworkNodeState" && at(object, "metadata", "name") === "worker-1",
    );
    const [pf] = listAt(at(state, "status"), "interfaces");
    const [first] = listAt(pf, "Vfs");
    const holder = { namespace: "apps", name: "old", via: "device-plugin", resource: "openshift.io/former", since: "" };
    Object.assign(Object(first), { holder });
    Object.assign(Object(at(state, "status")), { holders: { known: true } });
    const { out } = await runCli(["vfs", "-f", "-", "-o", "json", "--node", "worker-1"], { input: reported });
    const [own, ...others] = listAt(JSON.parse(out), "vfs");
    expect(own).toMatchObject({ pod: "apps/old", podFrom: "node-state" });
    for (const row of others) expect(row).not.toHaveProperty("possiblePods");
  });

  it("shows the claim that has a VF, with its pod or without one, and no guess at the VF", async () => {
    const driver = "sriovnetwork.k8snetworkplumbingwg.io";
    const results = [{ request: "a", driver, pool: "worker-1", device: "0000-3b-02-0" }];
    const claim = {
      apiVersion: "resource.k8s.io/v1",
      kind: "ResourceClaim",
      metadata: { name: "early", namespace: "apps" },
      status: { allocation: { devices: { results } } },
    };
    const input = [...objects, claim];
    const { out } = await runCli(["vfs", "-f", "-", "-o", "json"], { input });
    const rows = listAt(JSON.parse(out), "vfs");
    expect(rows[0]).toMatchObject({ address: "0000:3b:02.0", claim: "apps/early" });
    expect(rows[0]).not.toHaveProperty("possiblePods");
    expect(rows[7]).toMatchObject({ address: "0000:3b:02.3", claim: "apps/nic", pod: "apps/claimant" });
    const table = await runCli(["vfs", "-f", "-"], { input });
    expect(table.out).toMatch(/^NODE .* CLAIM +POD\n/);
    const plain = await runCli(["vfs", "-f", "-"], { input: objects.filter(({ kind }) => kind !== "ResourceClaim") });
    expect(plain.out).not.toContain("CLAIM");
  });

  it("lists each VF with its PF, settings, policy, resource and pod", async () => {
    const rows = await list();
    expect(rows).toHaveLength(8);
    expect(rows[1]).toEqual({
      node: "worker-1",
      pf: "ens1f0",
      pfAddress: "0000:3b:00.0",
      link: "up",
      vf: 1,
      address: "0000:3b:02.1",
      driver: "iavf",
      name: "ens1f0v1",
      mtu: 1500,
      policy: "fast",
      resource: "nics",
      pod: "apps/placed",
      podFrom: "network-status",
    });
    expect(rows[7]).toMatchObject({ node: "worker-2", vf: 3, pod: "apps/claimant", podFrom: "resource-claim" });
  });

  it("names pods of which only the resource is known, at VFs that no other pod is known to have", async () => {
    const rows = await list("--node", "worker-1");
    expect(rows[0]).toMatchObject({ vf: 0, possiblePods: ["apps/client-0"] });
    expect(rows[1]).not.toHaveProperty("possiblePods");
  });

  it.each([
    { flags: ["--pod", "placed"], rows: 1 },
    { flags: ["--pod", "apps/claimant"], rows: 1 },
    { flags: ["--pod", "other/claimant"], rows: 0 },
    { flags: ["--resource", "openshift.io/nics"], rows: 8 },
    { flags: ["--resource", "nics", "--node", "worker-2"], rows: 4 },
    { flags: ["--resource", "other"], rows: 0 },
  ])("filters by $flags", async ({ flags, rows }) => {
    expect(await list(...flags)).toHaveLength(rows);
  });

  it("prints a table", async () => {
    const { out } = await runCli(["vfs", "-f", "-", "--node", "worker-1"], { input: objects });
    expect(out.split("\n").slice(0, 3)).toEqual([
      "NODE       PF       VF   ADDRESS        DRIVER   MAC   VLAN   RESOURCE   POD",
      "worker-1   ens1f0   0    0000:3b:02.0   iavf     -     -      nics       apps/client-0?",
      "worker-1   ens1f0   1    0000:3b:02.1   iavf     -     -      nics       apps/placed",
    ]);
    const wide = await runCli(["vfs", "-f", "-", "-o", "wide"], { input: objects });
    expect(wide.out).toContain("PF ADDRESS");
    const none = await runCli(["vfs", "-f", "-", "--node", "x"], { input: objects });
    expect(none).toMatchObject({ code: 0, out: "No VFs found.\n" });
  });

  it("shows the address and VLAN that the PF has assigned", async () => {
    const changed = structuredClone(objects);
    const state = changed.find(({ kind }) => kind === "SriovNetworkNodeState");
    const [pf] = listAt(state, "status", "interfaces");
    const [vf] = listAt(pf, "Vfs");
    Object.assign(vf ?? {}, { adminMac: "02:00:00:00:00:01", mac: "02:00:00:00:00:02", Vlan: 100 });
    const { out } = await runCli(["vfs", "-f", "-", "-o", "json"], { input: changed });
    expect(listAt(JSON.parse(out), "vfs")[0]).toMatchObject({ mac: "02:00:00:00:00:01", vlan: 100 });
  });

  it.each([
    { flags: ["-f", "-", "--watch"], says: "--watch needs a cluster" },
    { flags: ["--watch"], says: "--watch needs a cluster" },
    { flags: ["--context", "lab", "--watch", "-o", "html"], says: "--watch prints text, wide or json, not html" },
  ])("refuses $flags", async ({ flags, says }) => {
    expect(await runCli(["vfs", ...flags])).toMatchObject({ code: 64, err: expect.stringContaining(says) });
  });

  it("refuses -o wide where it has no meaning", async () => {
    expect(await runCli(["plan", "-f", "-", "-o", "wide"])).toMatchObject({ code: 64 });
  });
});
