// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import type { InterfaceSpec, InterfaceStatus, VfStatus } from "@switchyard/api";
import { plan } from "../plan.ts";

const pciAddress = "0000:3b:00.0";
const card: InterfaceStatus = {
  pciAddress,
  vendor: "8086",
  deviceID: "1592",
  driver: "ice",
  name: "ens1f0",
  linkType: "ETH",
  mtu: 1500,
  linkAdminState: "up",
  eSwitchMode: "legacy",
  totalvfs: 8,
  numVfs: 0,
};
const group = { resourceName: "r", vfRange: "0-1" };

function vf(vfID: number, more: Partial<VfStatus> = {}): VfStatus {
  const mac = `02:00:00:00:01:0${vfID}`;
  const name = `ens1f0v${vfID}`;
  return { pciAddress: `0000:3b:02.${vfID}`, vfID, driver: "iavf", name, mac, adminMac: mac, mtu: 1500, ...more };
}

function problemsOf(spec: Partial<InterfaceSpec>, status: Partial<InterfaceStatus>) {
  const wanted = { pciAddress, name: "ens1f0", numVfs: 2, vfGroups: [group], ...spec };
  return plan({ interfaces: [wanted] }, { interfaces: [{ ...card, ...status }] }, new Map()).problems;
}

describe("the problems of a PF", () => {
  it("are none for a card with its driver", () => {
    expect(problemsOf({}, {})).toEqual([]);
  });

  it("include a card without a driver, which has no interface and no MTU", () => {
    const { driver: _driver, name: _name, mtu: _mtu, ...bare } = card;
    const without = (more: Partial<InterfaceStatus>) => {
      const wanted = { pciAddress, name: "", numVfs: 2, vfGroups: [group] };
      return plan({ interfaces: [wanted] }, { interfaces: [{ ...bare, ...more }] }, new Map()).problems;
    };
    expect(without({}).map(({ code }) => code)).toEqual(["no-driver"]);
    expect(without({})[0]?.message).toBe(
      `${pciAddress} has no driver, so 2 VFs cannot be created; load its driver, and see the kernel log if the driver has ` +
        "failed on it",
    );
    // A card with an interface has a driver that is only not known.
    expect(without({ name: "ens1f0" })).toEqual([]);
  });

  it("include a card that is bound to vfio-pci", () => {
    expect(problemsOf({ numVfs: 1, vfGroups: [{ ...group, vfRange: "0-0" }] }, { driver: "vfio-pci" })).toEqual([
      {
        code: "no-driver",
        field: "spec.interfaces[0].numVfs",
        pciAddress,
        message:
          `${pciAddress} is bound to vfio-pci, so 1 VF cannot be created; bind it to its network driver, or leave it out of ` +
          "the policy",
      },
    ]);
  });

  it("include another link type, except on Mellanox cards, whose firmware can change it", () => {
    expect(problemsOf({ linkType: "IB" }, {}).map(({ field, message }) => [field, message])).toEqual([
      ["spec.interfaces[0].linkType", `"IB" requested, but ${pciAddress} is ETH, and its link type cannot be changed`],
    ]);
    const mellanox = problemsOf({ linkType: "IB" }, { vendor: "15b3", deviceID: "101d", driver: "mlx5_core" });
    expect(mellanox.filter(({ message }) => message.includes("cannot be changed"))).toEqual([]);
  });

  it("include a range that is partly outside of the VFs", () => {
    expect(problemsOf({ vfGroups: [{ ...group, vfRange: "1-2" }] }, {})).toEqual([
      {
        code: "range-beyond-vfs",
        field: "spec.interfaces[0].vfGroups[0].vfRange",
        pciAddress,
        message: `"1-2" is outside the 2 VFs of ${pciAddress}`,
      },
    ]);
  });

  it.each([
    { created: 1, kept: "keeps its VF: ENOSPC; set numVfs to a number that the card can have", vfs: "VF" },
    { created: 2, kept: "keeps its 2 VFs: ENOSPC; set numVfs to a number that the card can have", vfs: "VFs" },
  ])("include a refused number of VFs, and say what is kept of $created", ({ created, kept, vfs }) => {
    const status = {
      numVfs: created,
      Vfs: Array.from({ length: created }, (_, id) => vf(id)),
      fewerVfs: { requested: 4, created, error: "ENOSPC" },
    };
    const found = problemsOf({ numVfs: 4, vfGroups: [{ ...group, vfRange: "0-3" }] }, status);
    expect(found.find(({ code }) => code === "fewer-vfs")?.message).toBe(
      `4 VFs were requested, but the host has refused it, so ${pciAddress} ${kept}, or remove the cause and then reboot ` +
        `the node or remove the ${vfs} of the PF`,
    );
  });

  it.each([
    { ids: [1], says: `VF 1 of ${pciAddress} is bound to iavf, but has no network interface, so it is not offered` },
    {
      ids: [0, 1],
      says: `VFs 0, 1 of ${pciAddress} are bound to iavf, but have no network interface, so they are not`,
    },
  ])("include VFs $ids without an interface", ({ ids, says }) => {
    const lost = (id: number) => (ids.includes(id) ? { name: "", missingInterface: "permanent" } : {});
    const Vfs = [0, 1].map((id) => vf(id, lost(id)));
    const [problem] = problemsOf({}, { numVfs: 2, Vfs });
    expect([problem?.code, problem?.message]).toEqual(["missing-interface", expect.stringContaining(says)]);
  });
});

describe("the problems of a node", () => {
  it("include missing vhost devices for each PF that needs them", () => {
    const wanted = { pciAddress, name: "ens1f0", numVfs: 2, vfGroups: [{ ...group, needVhostNet: true }] };
    const system = { missingVhostDevices: ["needVhostNet: load module vhost_net: ENOENT"] };
    const { problems } = plan({ interfaces: [wanted] }, { system, interfaces: [card] }, new Map());
    expect(problems).toEqual([
      {
        code: "missing-module",
        field: "spec.interfaces[0].vfGroups[0].needVhostNet",
        pciAddress,
        message: "needVhostNet: load module vhost_net: ENOENT",
      },
    ]);
  });

  it("include a change that the host has refused, and its steps are left out", () => {
    const Vfs = [0, 1].map((id) => vf(id));
    const refused = {
      changes: [`set sriov_numvfs 2 -> 4 on ${pciAddress}`],
      error: `set sriov_numvfs 4 on ${pciAddress}: ENOSPC`,
      attempts: 3,
    };
    const wanted = { pciAddress, name: "ens1f0", numVfs: 4, vfGroups: [{ ...group, vfRange: "0-3" }] };
    const observed = { interfaces: [{ ...card, numVfs: 2, Vfs, refused }] };
    const { steps, problems } = plan({ interfaces: [wanted] }, observed, new Map());
    expect(steps.filter(({ kind }) => kind === "set-num-vfs")).toEqual([]);
    expect(problems.find(({ code }) => code === "refused")?.message).toBe(
      `set sriov_numvfs 4 on ${pciAddress}: ENOSPC; this has failed 3 times in the same way, so the PF stays as it is until its ` +
        "spec, its driver or its VFs change, or for at most 6 hours; to try at once, restart the config daemon of the node",
    );
  });
});
