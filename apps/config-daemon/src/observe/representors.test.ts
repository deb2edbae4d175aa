// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import type { Link } from "@switchyard/host";
import { representorsOf } from "./representors.ts";

/** Two ports of one card that share the switch id. The representors of both are below the first port. */
const [first, second] = ["0000:3b:00.0", "0000:3b:00.1"] as const;
const physSwitchId = "3b00e7ffffb8599f";

function link(name: string, physPortName: string, overrides: Partial<Link> = {}): Link {
  const device = { index: 1, altNames: [], mac: "", mtu: 1500, adminUp: true, type: "ether" } as const;
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

const namesOf = (uplink: Link | undefined, pf: string) =>
  [...representorsOf(links, uplink, pf)].map(([vfId, { name }]) => [vfId, name]);

describe("representorsOf", () => {
  it("finds the representors of each port by the number of its PF, wherever they are", () => {
    expect(namesOf(uplinks[0], first)).toEqual([[0, "eth9"], [1, "p1_0"]]); // prettier-ignore
    expect(namesOf(uplinks[1], second)).toEqual([[0, "p0_0"]]);
  });

  it("finds none without a switch id", () => {
    const { physSwitchId: _physSwitchId, ...without } = uplinks[0];
    expect([namesOf(without, first), namesOf(undefined, first)]).toEqual([[], []]);
  });
});
