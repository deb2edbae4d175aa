// SPDX-License-Identifier: Apache-2.0
/**
 * Each file that the daemon keeps on the host, damaged in each way that a full disk, a power loss, another program or a later release
 * can cause. VFs and bridges that exist stay as they are.
 */
import { describe, expect, it } from "@jest/globals";
import type { SriovNetworkNodeState } from "@switchyard/api";
import { createFakeKernel, igb, pci } from "@switchyard/host/testing";
import { rebootFile } from "@switchyard/plan";
import { kernelArgumentsFile } from "../files/boot-records.ts";
import { hostOvsRecord } from "../files/host-ovs-files.ts";
import { guardFile } from "../guard/guard-record.ts";
import { findDamagedFiles } from "../start/damaged-files.ts";
import { daemonOn } from "../testing/daemon-on.ts";
import { knownNicsPath } from "../virtual/known-nics.ts";

const pf = pci("0000:01:00.0");
const bridge = "br-0000_01_00.0";

const files = [
  rebootFile,
  kernelArgumentsFile,
  hostOvsRecord,
  guardFile,
  knownNicsPath,
  "/etc/sriov-operator/managed-ovs-bridges.json",
  "/etc/sriov-operator/infiniband/guids",
  "/etc/sriov-operator/sriov-interface-config.yaml",
  "/etc/sriov-operator/sriov-interface-result.yaml",
  "/etc/sriov-operator/afxdp-interface-config.yaml",
  "/etc/sriov-operator/afxdp-interface-result.yaml",
  "/run/switchyard-rdma/refused-mode",
  "/run/switchyard-host-ovs/booted",
  "/run/switchyard/state-directory",
];

const contents = [
  { how: "is empty", text: "" },
  { how: "is truncated", text: '{"bootId": "boot-1", "causes": ["ker' },
  { how: "has zeros, as after a power loss", text: "\0".repeat(64) },
  { how: "is of a later release", text: '{"version": 9, "bootId": {"id": 1}, "causes": {}, "added": [7], "pf": null}' },
  { how: "is a list", text: "[[], {}, null, 1]" },
  { how: "is of another program", text: "# managed by ansible\nkey=value\n" },
];

const state: SriovNetworkNodeState = {
  apiVersion: "sriovnetwork.openshift.io/v1",
  kind: "SriovNetworkNodeState",
  metadata: { name: "worker-1", generation: 1 },
  spec: {
    interfaces: [{ pciAddress: pf, name: "enp1s0f0", numVfs: 2, vfGroups: [{ vfRange: "0-1" }] }],
    bridges: { ovs: [{ name: bridge, uplinks: [{ pciAddress: pf, name: "enp1s0f0" }] }] },
  },
  status: {},
};

it("are named when the daemon starts, if they are not JSON", async () => {
  const { files: host } = createFakeKernel({ nics: [igb(pf)] }).host();
  expect(await findDamagedFiles(host)).toEqual([]);
  await host.writeText(rebootFile, '{"bootId":"a","causes":[]}');
  await host.writeText(guardFile, '{"bootId":');
  await host.writeText(knownNicsPath, "");
  const found = await findDamagedFiles(host);
  expect(found.map(({ path }) => path)).toEqual([guardFile, knownNicsPath]);
  expect(found.every(({ reason }) => reason.includes("JSON"))).toBe(true);
});

describe.each(files)("the file %s", (path) => {
  it.each(contents)("that $how costs the node nothing", async ({ text }) => {
    const kernel = createFakeKernel({ nics: [igb(pf)], managesOvs: true });
    expect(await daemonOn(kernel.host()).pass(state)).toBe("settled");
    await kernel.host().files.writeText(path, text);
    const before = kernel.writes.length;
    const restarted = daemonOn(kernel.host());
    expect(await restarted.pass(state)).toBe("settled");
    expect(restarted.error()).toBe("");
    const onHost = kernel.writes.slice(before).filter(({ port }) => port !== "files" && port !== "records");
    expect(onHost.map(({ port, method }) => `${port}.${method}`)).toEqual([]);
    expect((await kernel.host().sriov.readPf(pf))?.sriov?.vfs).toHaveLength(2);
    expect(kernel.ovs.listBridges()).toEqual({ [bridge]: ["enp1s0f0"] });
  });
});
