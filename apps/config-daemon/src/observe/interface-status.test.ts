// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { defined, type InterfaceStatus } from "@switchyard/api";
import type { Link, LinkVf, PfRecord } from "@switchyard/host";
import { pci } from "@switchyard/host/testing";
import { groupByDevice, toInterfaceStatus } from "./interface-status.ts";

const pf = pci("0000:3b:00.0");
const vf = pci("0000:3b:00.2");

function link(name: string, device: string, overrides: Partial<Link> = {}): Link {
  return {
    index: 1,
    name,
    altNames: [],
    mac: "02:00:00:00:00:01",
    mtu: 1500,
    adminUp: true,
    promiscuous: false,
    type: "ether",
    parent: { bus: "pci", name: device },
    hasXdp: false,
    vfs: [],
    ...overrides,
  };
}

/** What the PF reports of a VF to which it has assigned nothing. */
const newVf: LinkVf = {
  vfId: 0,
  mac: "00:00:00:00:00:00",
  vlan: 0,
  vlanQos: 0,
  vlanProtocol: "802.1Q",
  spoofCheck: true,
  trust: false,
  linkState: "auto",
  minTxRate: 0,
  maxTxRate: 0,
};

const facts = {
  pciAddress: pf,
  vendor: "15b3",
  deviceId: "1017",
  driver: "mlx5_core",
  netdevs: ["ens1f0np0"],
  sriov: {
    totalVfs: 8,
    numVfs: 1,
    vfs: [{ vfId: 0, pciAddress: vf, vendor: "15b3", deviceId: "1018", driver: "mlx5_core", netdevs: ["ens1f0v0"] }],
  },
};
const rest = { eSwitchMode: undefined, speedMbps: undefined, record: undefined };

describe("toInterfaceStatus", () => {
  it("returns a PF and its VFs", () => {
    const links = groupByDevice([
      link("ens1f0np0", pf, {
        altNames: ["enp59s0f0np0"],
        maxMtu: 9978,
        vfs: [{ ...newVf, mac: "02:00:00:00:00:02", vlan: 7 }],
      }),
      link("ens1f0v0", vf, { mac: "02:00:00:00:00:02" }),
    ]);
    expect(toInterfaceStatus({ pf: facts, links, ...rest, eSwitchMode: "legacy", speedMbps: 25000 })).toEqual({
      pciAddress: pf,
      name: "ens1f0np0",
      altNames: ["enp59s0f0np0"],
      mac: "02:00:00:00:00:01",
      mtu: 1500,
      maxMtu: 9978,
      linkType: "ETH",
      linkAdminState: "up",
      linkSpeed: "25000 Mb/s",
      driver: "mlx5_core",
      vendor: "15b3",
      deviceID: "1017",
      totalvfs: 8,
      numVfs: 1,
      eSwitchMode: "legacy",
      Vfs: [
        {
          pciAddress: vf,
          vfID: 0,
          name: "ens1f0v0",
          mac: "02:00:00:00:00:02",
          adminMac: "02:00:00:00:00:02",
          mtu: 1500,
          Vlan: 7,
          driver: "mlx5_core",
          vendor: "15b3",
          deviceID: "1018",
        },
      ],
    });
  });

  it("returns where the PF is in the machine, if this is known", () => {
    const placed = { ...facts, pcieRoot: "pci0000:3a", numaNode: 1 };
    const place = ({ pcieRoot, numaNode }: InterfaceStatus) => ({ pcieRoot, numaNode });
    const links = groupByDevice([]);
    expect(place(toInterfaceStatus({ pf: placed, links, ...rest }))).toEqual({ pcieRoot: "pci0000:3a", numaNode: 1 });
    expect(Object.keys(toInterfaceStatus({ pf: facts, links, ...rest }))).not.toContain("numaNode");
  });

  it("reports an unset administrative address as zeros, and no interface of a VF that a pod has", () => {
    const links = groupByDevice([link("ens1f0np0", pf, { vfs: [newVf] })]);
    const { Vfs } = toInterfaceStatus({ pf: facts, links, ...rest });
    const ids = { driver: "mlx5_core", vendor: "15b3", deviceID: "1018" };
    expect(Vfs).toEqual([{ pciAddress: vf, vfID: 0, adminMac: "00:00:00:00:00:00", ...ids }]);
  });

  it("finds the port among its representors, and names the representor of each VF", () => {
    const physSwitchId = "e7ffffb8599f";
    const links = groupByDevice([
      link("ens1f0r0", pf, { physPortName: "pf0vf0", physSwitchId }),
      link("ens1f0np0", pf, { physPortName: "p0", physSwitchId }),
    ]);
    const status = toInterfaceStatus({ pf: facts, links, ...rest, eSwitchMode: "switchdev" });
    expect([status.name, status.eSwitchMode, status.Vfs?.[0]?.representorName]).toEqual([
      "ens1f0np0",
      "switchdev",
      "ens1f0r0",
    ]);
  });

  const none = { ...facts.sriov, numVfs: 0, vfs: [] };
  it.each([
    { what: "a driver without devlink", given: { driver: "igb" }, hasESwitch: false },
    { what: "mlx5_core with VFs", given: {}, hasESwitch: false },
    { what: "mlx5_core without VFs, which may not know the mode yet", given: { sriov: none }, hasESwitch: undefined },
    { what: "mlx5_core on InfiniBand", given: { sriov: none }, type: "infiniband" as const, hasESwitch: false },
    { what: "a BlueField", given: { deviceId: "a2d6", sriov: none }, hasESwitch: false },
    { what: "no driver", given: { driver: undefined }, hasESwitch: undefined },
  ])("of a PF that reports no mode: $what", ({ given, type, hasESwitch }) => {
    const { driver, ...others } = { ...facts, ...given };
    const links = groupByDevice([link("ens1f0np0", pf, defined({ type }))]);
    const status = toInterfaceStatus({ pf: { ...others, ...defined({ driver }) }, links, ...rest });
    expect([status.eSwitchMode, status.hasESwitch]).toEqual(["legacy", hasESwitch]);
  });

  it("contains the ownership and the initial MTU of the record", () => {
    const record = { spec: { pciAddress: pf, externallyManaged: true }, initial: { mtu: 1400 } };
    const status = toInterfaceStatus({ pf: facts, links: new Map(), ...rest, record });
    expect([status.owned, status.externallyManaged, status.initialMtu]).toEqual([true, true, 1400]);
  });

  it("contains recorded names that the PF does not have now", () => {
    const record = { spec: { pciAddress: pf, name: "ens1f0np0" }, names: ["ens1f0np0", "storage0"] };
    const show = (links: readonly Link[], of: PfRecord = record) =>
      toInterfaceStatus({ pf: facts, links: groupByDevice(links), ...rest, record: of }).recordedNames;
    expect(show([link("ens1f0np0", pf, { altNames: ["storage0"] })])).toBeUndefined();
    expect(show([link("eth7", pf, { altNames: ["storage0"] })])).toEqual(["ens1f0np0"]);
    expect(show([])).toEqual(["ens1f0np0", "storage0"]);
    expect(show([], { spec: record.spec })).toEqual(["ens1f0np0"]); // upstream's record
  });

  it("ignores the record of another card in the same slot", () => {
    const record = { spec: { pciAddress: pf }, card: "8086:1572" };
    expect(toInterfaceStatus({ pf: facts, links: new Map(), ...rest, record })).not.toHaveProperty("owned");
    const same = { ...record, card: "15b3:1017" };
    expect(toInterfaceStatus({ pf: facts, links: new Map(), ...rest, record: same }).owned).toBe(true);
  });
});
