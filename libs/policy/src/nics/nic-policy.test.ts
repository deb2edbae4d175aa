// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import type { InterfaceStatus, NicSelector } from "@switchyard/api";
import { mergePolicies } from "../merge/merge-policies.ts";
import { adviceOnExcludedNics, defaultNicPolicy, mayConfigure } from "./nic-policy.ts";
import { createRules } from "../merge/rules.ts";
import { node, operatorConfig, policy } from "../testing/objects.ts";

/** A listed card, an unlisted management port with SR-IOV, a listed model without SR-IOV, and an unlisted e1000e. */
const cards: Readonly<Record<string, InterfaceStatus>> = {
  listed: { pciAddress: "0000:3b:00.0", name: "ens1f0", vendor: "8086", deviceID: "158b", totalvfs: 64 },
  i350: { pciAddress: "0000:01:00.0", name: "eno1", vendor: "8086", deviceID: "1521", totalvfs: 7 },
  noSriov: { pciAddress: "0000:3c:00.0", name: "ens2f0", vendor: "8086", deviceID: "1572" },
  e1000e: { pciAddress: "0000:00:1f.6", name: "eno2", vendor: "8086", deviceID: "15bb" },
};
const all = Object.keys(cards);

function taken(selector: NicSelector, supportedNics?: "strict" | "warn", overrides: Partial<InterfaceStatus> = {}) {
  const nics = defaultNicPolicy(operatorConfig(supportedNics === undefined ? {} : { supportedNics }));
  return Object.entries(cards)
    .filter(([, card]) => mayConfigure(selector, { ...card, ...overrides }, nics))
    .map(([name]) => name);
}

describe("mayTake", () => {
  it("allows only listed cards with SR-IOV if the policy selects a vendor", () => {
    expect(taken({ vendor: "8086" })).toEqual(["listed"]);
  });

  it.each<{ does: string; selector: NicSelector }>([
    { does: "name", selector: { pfNames: ["eno1"] } },
    { does: "PCI address", selector: { rootDevices: ["0000:01:00.0"] } },
    { does: "device id", selector: { vendor: "8086", deviceID: "1521" } },
    { does: "network", selector: { netFilter: "openstack/NetworkID:3f5c" } },
  ])("allows any card that is selected by $does", ({ selector }) => {
    expect(taken(selector)).toEqual(all);
  });

  it("allows no unlisted card if the operator config is strict", () => {
    expect(taken({ vendor: "8086" }, "strict")).toEqual(["listed", "noSriov"]);
    expect(taken({ pfNames: ["eno1"] }, "strict")).toEqual(["listed", "noSriov"]);
  });

  it("allows all cards in upstream's DEV_MODE", () => {
    const nics = { known: [], unlisted: "any" } as const;
    expect(Object.values(cards).every((card) => mayConfigure({ vendor: "8086" }, card, nics))).toBe(true);
  });

  it("allows a card that Switchyard has configured after it was removed from the list", () => {
    expect(taken({ vendor: "8086" }, "warn", { owned: true })).toEqual(all);
    expect(taken({ vendor: "8086" }, "strict", { owned: true })).toEqual(all);
  });
});

describe("a policy for a vendor", () => {
  const found = [cards["i350"] ?? { pciAddress: "" }, cards["e1000e"] ?? { pciAddress: "" }];
  const vendorWide = policy("p", { nicSelector: { vendor: "8086" } });

  it("creates no VFs on a management port, and reports how to select it", () => {
    const { spec, problems } = mergePolicies(node(), found, createRules({ policies: [vendorWide], pools: [] }));
    expect(spec).toEqual({});
    expect(problems.map(({ message }) => message)).toEqual([
      "matches no NIC of the node; its NICs are eno1 (0000:01:00.0, 8086:1521), eno2 (0000:00:1f.6, 8086:15bb): " +
        "not in the list of supported NICs, or without SR-IOV: 0000:01:00.0, 0000:00:1f.6; " +
        "to use them, select them by pfNames, rootDevices or deviceID",
    ]);
  });

  it("creates VFs on a card that the cluster has added to the list", () => {
    const nics = { known: [{ vendor: "8086", pf: "1521", vf: "1520" }], unlisted: "warn" as const };
    const { spec } = mergePolicies(node(), found, createRules({ policies: [vendorWide], pools: [], nics }));
    expect(spec.interfaces).toMatchObject([{ pciAddress: "0000:01:00.0", numVfs: 2 }]);
  });
});

describe("adviceOnExcludedNics", () => {
  const unlisted = (count: number): readonly InterfaceStatus[] =>
    Array.from({ length: count }, (_, at) => ({
      ...cards["i350"],
      pciAddress: `0000:0${at + 1}:00.0`,
      name: `eno${at}`,
    }));
  const advice = (count: number, supportedNics: "strict" | "warn" = "warn") =>
    adviceOnExcludedNics({ vendor: "8086" }, unlisted(count), defaultNicPolicy(operatorConfig({ supportedNics })));

  it("is absent if no card is left out", () => {
    expect(advice(0)).toBeUndefined();
  });

  it.each([
    {
      supportedNics: "warn",
      how: ", or without SR-IOV: 0000:01:00.0; to use them, select them by pfNames, rootDevices or deviceID",
    },
    { supportedNics: "strict", how: ": 0000:01:00.0; to use them, add their IDs to the ConfigMap supported-nic-ids" },
  ] as const)("says how to use the cards with supportedNics $supportedNics", ({ supportedNics, how }) => {
    expect(advice(1, supportedNics)).toBe(`not in the list of supported NICs${how}`);
  });

  it("names at most eight cards", () => {
    expect(advice(8)?.includes("others")).toBe(false);
    expect(advice(9)).toContain(
      ": 0000:01:00.0, 0000:02:00.0, 0000:03:00.0, 0000:04:00.0, 0000:05:00.0, 0000:06:00.0, ",
    );
    expect(advice(9)).toContain("0000:07:00.0, 0000:08:00.0 and others; ");
  });
});
