// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import type { Link } from "@switchyard/host";
import { representorsOf } from "./interface-status.ts";

/** Two ports of one card that share the switch id. The representors of both are below the first port. */
const [first, second] = ["0000:3b:00.0", "0000:3b:00.1"] as const;
const physSwitchId = "3b00e7ffffb8599f";

function link(name: string, physPortName: string, overrides: Partial<Link> = {}): Link {
  const device = {
    index: 1,
    altNames: [],
    mac: "",
    mtu: 1500,
    adminUp: true,
    promiscuous: false,
    type: "ether",
  } as const;
  const parent = { bus: "pci", name: first };
  return { ...device, hasXdp: false, vfs: [], name, physPortName, physSwitchId, parent, ...overrides };
}

const uplinks = [link("p0", "p0"), link("p1", "p1", { parent: { bus: "pci", name: second } })] as const;
const links = [
  ...uplinks,
  link("eth9", "pf0vf0"),
  link("p1_0", "pf0vf1"), // the name says nothing
  link("p0_0", "pf1vf0"),
  link("far0", "c1pf0vf0"),
  link("far1", "c1pf0vf7"),
  link("sf0", "pf0sf0"),
  link("other", "pf0vf2", { physSwitchId: "ffff" }),
];

const namesIn = (all: readonly Link[], uplink: Link | undefined, pciAddress: string, driver = "mlx5_core") =>
  [...representorsOf(all, uplink, { pciAddress, driver })].map(([vfId, { name }]) => [vfId, name]);
const namesOf = (uplink: Link | undefined, pf: string) => namesIn(links, uplink, pf);
const below = (name: string) => ({ parent: { bus: "pci", name } as const });

describe("representorsOf", () => {
  it("finds the representors of each port by the number of its PF, wherever they are", () => {
    expect(namesOf(uplinks[0], first)).toEqual([[0, "eth9"], [1, "p1_0"]]); // prettier-ignore
    expect(namesOf(uplinks[1], second)).toEqual([[0, "p0_0"]]);
  });

  it("takes the number of the port, and not that of the function", () => {
    const swapped = [link("a", "p1"), link("b", "p0", below(second))] as const;
    const all = [...swapped, link("a0", "pf1vf0"), link("b0", "pf0vf0", below(second))];
    expect(namesIn(all, swapped[0], first)).toEqual([[0, "a0"]]);
    expect(namesIn(all, swapped[1], second)).toEqual([[0, "b0"]]);
    // bnxt_en numbers by the function
    expect(namesIn(all, swapped[0], first, "bnxt_en")).toEqual([[0, "b0"]]);
  });

  it("takes the number of the function for a PF without a port name", () => {
    const { physPortName: _none, ...uplink } = link("a", "");
    expect(namesIn([uplink, link("a0", "pf0vf0"), link("b0", "pf1vf0")], uplink, first)).toEqual([[0, "a0"]]);
  });

  it("accepts names with the number of the port first, and of the own controller", () => {
    const all = [
      uplinks[1],
      link("a", "p1pf7vf0"),
      link("b", "c0pf1vf1"),
      link("c", "p0pf1vf2"),
      link("d", "c1pf1vf3"),
    ];
    expect(namesIn(all, uplinks[1], second)).toEqual([[0, "a"], [1, "b"]]); // prettier-ignore
  });

  it("leaves the representors of another function that shares the port", () => {
    const shared = [link("a", "p0"), link("b", "p0", below(second))] as const;
    for (const name of ["pf0vf0", "p0pf1vf0"])
      expect(namesIn([...shared, link("b0", name, below(second))], shared[0], first)).toEqual([]);
  });

  it("finds none without a switch id", () => {
    const { physSwitchId: _physSwitchId, ...without } = uplinks[0];
    expect([namesOf(without, first), namesOf(undefined, first)]).toEqual([[], []]);
  });
});
