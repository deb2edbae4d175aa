// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import type { SriovNetworkNodeState, VfGroup } from "@switchyard/api";
import { createFakeKernel, mlx5Ib, pci, type FakeKernel } from "@switchyard/host/testing";
import { observeNode } from "../observe/observe.ts";
import { daemonOn } from "../testing/daemon-on.ts";
import { killedAtWrite } from "../testing/killed-at-write.ts";

const pf = pci("0000:3b:00.0");
const path = "/etc/sriov-operator/infiniband/guids";

function ibNode(): FakeKernel {
  return createFakeKernel({ nics: [mlx5Ib(pf)] });
}

function asking(
  numVfs = 2,
  vfGroups: readonly VfGroup[] = [{ resourceName: "ib", vfRange: `0-${numVfs - 1}` }],
): SriovNetworkNodeState {
  return {
    apiVersion: "sriovnetwork.openshift.io/v1",
    kind: "SriovNetworkNodeState",
    metadata: { name: "worker-1", generation: 1 },
    spec: { interfaces: [{ pciAddress: pf, numVfs, linkType: "ib", vfGroups }] },
  };
}

/** The GUIDs of the RDMA devices, and those that the PF stores. */
async function guids(kernel: FakeKernel) {
  const { interfaces } = await observeNode(kernel.host());
  const vfs = interfaces.find(({ pciAddress }) => pciAddress === pf)?.Vfs ?? [];
  return vfs.map(({ guid, adminGuid }) => ({
    guid: guid?.replaceAll(":", ""),
    adminGuid: adminGuid?.replaceAll(":", ""),
  }));
}

const file = (...last: readonly string[]) =>
  JSON.stringify([{ pciAddress: pf, guids: last.map((each) => `02:00:00:00:00:00:00:${each}`) }]);

describe("the GUIDs of InfiniBand VFs", () => {
  it("are generated once, take effect on RDMA devices, and are kept when the VFs are created again", async () => {
    const kernel = ibNode();
    const daemon = daemonOn(kernel.host());
    expect(await daemon.pass(asking())).toBe("settled");
    const first = await guids(kernel);
    expect(first).toHaveLength(2);
    for (const { guid, adminGuid } of first) {
      expect(guid).toMatch(/^[0-9a-f][26ae]/); // locally administered
      expect(guid).toBe(adminGuid);
    }
    expect(first[0]?.guid).not.toBe(first[1]?.guid);
    const writes = kernel.writes.length;
    expect(await daemon.pass(asking())).toBe("settled");
    expect(kernel.writes.length).toBe(writes);

    expect(await daemon.pass(asking(3))).toBe("settled");
    expect((await guids(kernel)).slice(0, 2)).toEqual(first);
    kernel.reboot();
    expect(await daemon.pass(asking(3))).toBe("settled");
    expect((await guids(kernel)).slice(0, 2)).toEqual(first);
  });

  it("are those of the administrator's file, and generated for VFs beyond its list", async () => {
    const kernel = ibNode();
    kernel.writeFile(path, file("07"));
    expect(await daemonOn(kernel.host()).pass(asking())).toBe("settled");
    const [first, second] = await guids(kernel);
    expect(first?.guid).toBe("0200000000000007");
    expect(second?.guid).toMatch(/^[0-9a-f]{16}$/);
  });

  it("belong to the PF whose port has the GUID in the file (sriov-operator.md M-24)", async () => {
    const kernel = ibNode();
    const link = (await kernel.host().links.listLinks()).find(({ parent }) => parent?.name === pf);
    expect(link?.mac.split(":")).toHaveLength(20);
    const pfGuid = link?.mac.split(":").slice(-8).join(":");
    kernel.writeFile(
      path,
      JSON.stringify([{ pfGuid, guidsRange: { start: "02:00:00:00:00:00:00:0a", end: "02:00:00:00:00:00:00:0b" } }]),
    );
    expect(await daemonOn(kernel.host()).pass(asking())).toBe("settled");
    expect((await guids(kernel)).map(({ guid }) => guid)).toEqual(["020000000000000a", "020000000000000b"]);
  });

  it.each([
    { what: "malformed", text: file("07").slice(0, -1), problem: "invalid JSON" },
    { what: "too large", text: "x".repeat(2 << 20), problem: "it is not a regular file of at most 1 MiB" },
  ])("are not generated while the file is $what, which is reported", async ({ text, problem }) => {
    const kernel = ibNode();
    kernel.writeFile(path, text);
    const daemon = daemonOn(kernel.host());
    expect(await daemon.pass(asking())).toBe("retry");
    expect(daemon.error()).toContain(`read GUID of VF 0 of ${pf} on ${path}: EINVAL (${problem}`);
    expect((await guids(kernel)).map(({ adminGuid }) => adminGuid)).toEqual(["0".repeat(16), "0".repeat(16)]);
    kernel.writeFile(path, file("07", "08"));
    expect(await daemon.pass(asking())).toBe("settled");
    expect((await guids(kernel)).map(({ guid }) => guid)).toEqual(["0200000000000007", "0200000000000008"]);
  });

  it("are set for VFs of virtual machines, too", async () => {
    const kernel = ibNode();
    kernel.writeFile(path, file("07"));
    const group = { resourceName: "vm", vfRange: "0-0", deviceType: "vfio-pci" } as const;
    expect(await daemonOn(kernel.host()).pass(asking(1, [group]))).toBe("settled");
    expect(await guids(kernel)).toEqual([{ guid: undefined, adminGuid: "0200000000000007" }]);
  });

  it("are not set if the record cannot be written, or the driver refuses them; both are reported", async () => {
    const kernel = ibNode();
    const daemon = daemonOn(kernel.host());
    const full = kernel.fault({ port: "records", method: "save", nth: 2 }, { code: "ENOSPC" });
    const refused = kernel.fault({ port: "rdma", method: "setVfGuid" }, { code: "EOPNOTSUPP" });
    expect(await daemon.pass(asking())).toBe("retry");
    expect(daemon.error()).toContain(`save record on ${pf}: ENOSPC`);
    expect(daemon.error()).toMatch(/set vf 1 guid [0-9a-f:]{23} on ibp\w+: EOPNOTSUPP/);
    full.lift();
    refused.lift();
    expect(await daemon.pass(asking())).toBe("settled");
  });

  it.each([
    { when: "just before", isDone: false },
    { when: "just after", isDone: true },
  ])("are the recorded ones after a kill $when any write", async ({ isDone }) => {
    const undisturbed = ibNode();
    await daemonOn(undisturbed.host()).pass(asking());
    for (let nth = 1; nth <= undisturbed.writes.length; nth++) {
      const kernel = ibNode();
      const killed = killedAtWrite(kernel.host(), nth, isDone);
      await Promise.race([daemonOn(killed.host).pass(asking()), killed.death]);
      const before = (await kernel.host().records.list()).get(pf)?.guids ?? {};
      expect([nth, await daemonOn(kernel.host()).pass(asking())]).toEqual([nth, "settled"]);
      const record = (await kernel.host().records.list()).get(pf)?.guids ?? {};
      expect(record).toMatchObject(before);
      const expected = [record[0], record[1]].map((guid) => guid?.replaceAll(":", ""));
      expect([nth, (await guids(kernel)).map(({ guid }) => guid)]).toEqual([nth, expected]);
    }
  });
});
