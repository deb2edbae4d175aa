// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { state } from "../testing/objects.ts";
import { runCli } from "../testing/run-cli.ts";

const reported = state("worker-1", 8);
const [pf] = reported.status.interfaces;
const inUse = {
  ...reported,
  spec: {
    interfaces: [
      {
        pciAddress: "0000:3b:00.0",
        numVfs: 8,
        vfGroups: [{ policyName: "fast", resourceName: "fast", vfRange: "0-7", deviceType: "netdevice" }],
      },
    ],
  },
  status: {
    ...reported.status,
    interfaces: [
      { ...pf, linkSpeed: "25000 Mb/s", eSwitchMode: "legacy", hostUse: ["default route"] },
      {
        ...pf,
        pciAddress: "0000:3b:00.1",
        name: "ens1f1\u001b[31m",
        numVfs: 0,
        Vfs: [],
        linkSpeed: "-1 Mb/s",
        totalvfs: undefined,
      },
    ],
  },
};
const forAfxdp = {
  apiVersion: "afxdpnetwork.hns.dev/v1alpha1",
  kind: "AfxdpNetworkNodeState",
  metadata: { name: "worker-1", namespace: "sriov-network-operator" },
  status: { interfaces: [{ pciAddress: "0000:3b:00.0", name: "ens1f0", xdp: { native: true, zeroCopy: false } }] },
};

function cells(text: string): readonly string[][] {
  return text
    .trimEnd()
    .split("\n")
    .map((line) => line.split(/ {2,}/));
}

describe("switchyard nics", () => {
  it("lists the NICs of nodes with their links, VFs and policies", async () => {
    const { code, out } = await runCli(["nics", "-f", "-"], { input: [inUse] });
    expect([code, cells(out)]).toEqual([
      0,
      [
        ["NODE", "NIC", "ADDRESS", "ID", "DRIVER", "SPEED", "LINK", "VFS", "MTU", "MODE", "POLICY", "HOST USE"],
        [
          "worker-1",
          "ens1f0",
          "0000:3b:00.0",
          "8086:158b",
          "i40e",
          "25 Gb/s",
          "up",
          "8/64",
          "1500",
          "legacy",
          "fast",
          "default route",
        ],
        ["worker-1", "ens1f1?[31m", "0000:3b:00.1", "8086:158b", "i40e", "-", "up", "0", "1500", "-", "-", "-"],
      ],
    ]);
  });

  it("has one row for a NIC of both node states", async () => {
    const { out } = await runCli(["nics", "-f", "-", "-o", "json"], { input: [inUse, forAfxdp] });
    expect(JSON.parse(out)).toMatchObject({
      nics: [{ pciAddress: "0000:3b:00.0", numVfs: 8, policies: ["fast"], nativeXdp: true }, { numVfs: 0 }],
    });
  });

  it("lists the supported NICs if asked, or if the user has no cluster", async () => {
    const asked = await runCli(["nics", "--supported"]);
    expect(cells(asked.out)[0]).toEqual(["VENDOR", "DEVICE", "VF DEVICE", "CARD"]);
    expect((await runCli(["nics"])).out).toBe(asked.out);
  });

  it("reads the cluster of the current context", async () => {
    const directory = mkdtempSync(join(tmpdir(), "switchyard-nics-"));
    const kubeconfig = join(directory, "config");
    writeFileSync(kubeconfig, "current-context: lab\ncontexts: []\n");
    const { code, err } = await runCli(["nics"], { env: { KUBECONFIG: kubeconfig } });
    rmSync(directory, { recursive: true });
    expect([code, err]).toEqual([1, expect.stringMatching(/current context lab\n.*context "lab"/s)]);
  });
});
