// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import type { FirmwareStatus, InterfaceSpec, InterfaceStatus } from "@switchyard/api";
import { ownedInStatus } from "../pf/owned-pf.ts";
import { plan } from "../plan.ts";
import { describeProblem } from "../problem.ts";
import { describeStep } from "../steps/step.ts";

const first = "0000:3b:00.0";
const second = "0000:3b:00.1";
const card = "0000:3b:00";

/** A port of a ConnectX-5 with 8 VFs by firmware. */
function port(overrides: Partial<InterfaceStatus> = {}): InterfaceStatus {
  return {
    pciAddress: first,
    vendor: "15b3",
    deviceID: "1017",
    driver: "mlx5_core",
    mtu: 1500,
    linkType: "ETH",
    linkAdminState: "up",
    eSwitchMode: "legacy",
    totalvfs: 8,
    numVfs: 0,
    firmware: firmware(),
    ...overrides,
  };
}

function firmware(overrides: Partial<FirmwareStatus> = {}): FirmwareStatus {
  return {
    numVfs: { current: 8, next: 8 },
    sriovEnabled: { current: true, next: true },
    linkType: { current: "ETH", next: "ETH" },
    ...overrides,
  };
}

function wanted(overrides: Partial<InterfaceSpec> = {}): InterfaceSpec {
  return { pciAddress: first, numVfs: 16, ...overrides };
}

function planned(
  specs: readonly InterfaceSpec[],
  ports: readonly InterfaceStatus[],
  unselected: readonly string[] = [],
) {
  const observed = { interfaces: ports };
  const result = plan({ interfaces: specs, unselected }, observed, ownedInStatus(observed));
  return {
    steps: result.steps.map(describeStep),
    problems: result.problems.map(describeProblem),
    reasons: result.reasons.map(({ field, text }) => `${field}: ${text}`),
    impact: result.impact,
  };
}

describe("the firmware of a Mellanox card", () => {
  it("stays as it is while the card allows the VFs", () => {
    expect(planned([wanted({ numVfs: 8 })], [port()]).steps).toEqual(["set sriov_numvfs 0 -> 8 on 0000:3b:00.0"]);
  });

  it("stays as it is if it allows more VFs than are needed (sriov-operator.md M-47)", () => {
    const result = planned([wanted({ numVfs: 2 })], [port({ numVfs: 8 })]);
    expect(result.steps).toEqual(["set sriov_numvfs 8 -> 2 on 0000:3b:00.0"]);
    expect(result.impact).toBe("drain");
  });

  it("stays as it is if another setting limits the VFs of the function", () => {
    const perFunction = firmware({ numVfs: { current: 0, next: 0 } });
    expect(planned([wanted({ numVfs: 8 })], [port({ numVfs: 8, firmware: perFunction })]).steps).toEqual([]);
  });

  it("is changed, and the card is reset, before the PF is configured", () => {
    const resettable = port({ firmware: firmware({ resetAllowed: true }) });
    expect(planned([wanted({ mtu: 9000 })], [resettable])).toEqual({
      steps: [`set NUM_OF_VFS=16 in the firmware of card ${card}`, `reset the firmware of card ${card}`],
      problems: [],
      reasons: [
        "spec.interfaces[0].numVfs: 0000:3b:00.0: changing its firmware settings (NUM_OF_VFS=16) resets the card",
      ],
      impact: "drain",
    });
  });

  it("only needs the reset if the next values are right", () => {
    const set = firmware({ numVfs: { current: 8, next: 32 }, resetAllowed: true });
    expect(planned([wanted()], [port({ firmware: set })]).steps).toEqual([`reset the firmware of card ${card}`]);
  });

  it("is changed without a reset if only the next value is too low", () => {
    const lowered = firmware({ numVfs: { current: 8, next: 4 }, resetAllowed: true });
    const result = planned([wanted({ numVfs: 8 })], [port({ numVfs: 8, firmware: lowered })]);
    expect(result.steps).toEqual([`set NUM_OF_VFS=8 in the firmware of card ${card}`]);
    expect(result.impact).toBe("none");
  });

  it("gets SR-IOV enabled", () => {
    const { totalvfs: _totalvfs, numVfs: _numVfs, ...without } = port();
    const off = firmware({ sriovEnabled: { current: false, next: false }, resetAllowed: true });
    expect(planned([wanted({ numVfs: 8 })], [{ ...without, firmware: off }]).steps).toEqual([
      `set SRIOV_EN=1 in the firmware of card ${card}`,
      `reset the firmware of card ${card}`,
    ]);
  });

  it("gets the larger number of its two ports, and both ports wait", () => {
    const ports = [port(), port({ pciAddress: second })].map((each) => ({
      ...each,
      firmware: firmware({ resetAllowed: true }),
    }));
    const result = planned([wanted({ numVfs: 12 }), wanted({ pciAddress: second, numVfs: 4 })], ports);
    expect(result.steps).toEqual([
      `set NUM_OF_VFS=12 in the firmware of card ${card}`,
      `reset the firmware of card ${card}`,
    ]);
  });

  it("is planned for each card on its own (sriov-operator.md M-2)", () => {
    const other = port({ pciAddress: "0000:5e:00.0", firmware: firmware({ resetAllowed: true }) });
    const result = planned(
      [wanted(), wanted({ pciAddress: "0000:5e:00.0", numVfs: 8 })],
      [port({ firmware: firmware({ resetAllowed: true }) }), other],
    );
    expect(result.steps).toEqual([
      `set NUM_OF_VFS=16 in the firmware of card ${card}`,
      `reset the firmware of card ${card}`,
      "set sriov_numvfs 0 -> 8 on 0000:5e:00.0",
    ]);
  });

  it("changes the link type of the port that the spec names", () => {
    const ports = [port(), port({ pciAddress: second, firmware: firmware({ resetAllowed: true }) })];
    const result = planned(
      [wanted({ pciAddress: second, numVfs: 0, linkType: "ib" })],
      [{ ...port(), firmware: firmware({ resetAllowed: true }) }, ...ports.slice(1)],
    );
    expect(result.steps).toEqual([
      `set LINK_TYPE_P2=1 in the firmware of card ${card}`,
      `reset the firmware of card ${card}`,
    ]);
    expect(result.reasons).toEqual([
      "spec.interfaces[0].linkType: 0000:3b:00.1: changing its firmware settings (LINK_TYPE_P2=1) resets the card",
    ]);
  });

  it("refuses a link type that the card does not have", () => {
    const { linkType: _linkType, ...ethernetOnly } = firmware();
    expect(planned([wanted({ numVfs: 8, linkType: "IB" })], [port({ firmware: ethernetOnly })])).toMatchObject({
      steps: [],
      problems: [
        "spec.interfaces[0].linkType: link type IB requested, but the firmware of 0000:3b:00.0 has no setting LINK_TYPE_P1",
      ],
    });
  });

  it("reports a card that does not do what its firmware says", () => {
    const said = firmware({ numVfs: { current: 32, next: 32 } });
    expect(planned([wanted()], [port({ firmware: said })])).toMatchObject({
      steps: [],
      problems: [
        "spec.interfaces[0].numVfs: 16 VFs requested, but 0000:3b:00.0 does not offer this, although its firmware settings allow it (NUM_OF_VFS=32 SRIOV_EN=1)",
      ],
    });
  });

  it("is named in the problem if it cannot be changed", () => {
    const locked = port({ firmware: { unavailable: "the kernel is in lockdown mode integrity" } });
    for (const spec of [wanted(), wanted({ numVfs: 8, linkType: "IB" })]) {
      const { steps, problems } = planned([spec], [locked]);
      expect(steps).toEqual([]);
      expect(problems).toEqual([expect.stringContaining("lockdown mode integrity")]);
    }
    expect(planned([wanted({ numVfs: 8 })], [locked]).problems).toEqual([]);
  });

  it("is not reset while the other port has VFs of somebody else", () => {
    const ports = [port(), port({ pciAddress: second, numVfs: 2 })].map((each) => ({
      ...each,
      firmware: firmware({ resetAllowed: true }),
    }));
    expect(planned([wanted()], ports)).toMatchObject({
      steps: [`set NUM_OF_VFS=16 in the firmware of card ${card}`, `reboot for firmware ${card} NUM_OF_VFS=16`],
      impact: "reboot",
    });
  });

  it("is never changed for an externally managed PF", () => {
    const external = wanted({ externallyManaged: true, numVfs: 16, linkType: "IB" });
    const result = planned([external], [port({ numVfs: 8, firmware: firmware({ resetAllowed: true }) })]);
    expect(result.steps).toEqual([]);
    expect(result.problems.join()).toContain("externally managed");
  });

  it("is planned before it was read, so that the webhook can warn", () => {
    const { firmware: _firmware, ...unread } = port();
    expect(planned([wanted()], [unread])).toMatchObject({
      steps: [`set NUM_OF_VFS=16 in the firmware of card ${card}`, `reboot for firmware ${card} NUM_OF_VFS=16`],
      impact: "reboot",
    });
    const { totalvfs: _none, ...withoutSriov } = unread;
    expect(planned([wanted()], [withoutSriov]).steps).toContain(
      `set NUM_OF_VFS=16 SRIOV_EN=1 in the firmware of card ${card}`,
    );
  });

  describe("when no policy selects the card any longer", () => {
    const changed = firmware({ numVfs: { current: 16, next: 16 }, initial: { numVfs: 8 } });

    it("gets its earlier values back, without a reset", () => {
      const owned = port({ owned: true, totalvfs: 16, numVfs: 16, firmware: changed });
      expect(planned([], [owned], [first]).steps).toEqual([
        `set NUM_OF_VFS=8 in the firmware of card ${card}`,
        "set sriov_numvfs 16 -> 0 on 0000:3b:00.0",
        "release 0000:3b:00.0",
      ]);
    });

    it("keeps its values while the other port is selected", () => {
      const ports = [port({ owned: true, firmware: changed }), port({ pciAddress: second, owned: true, totalvfs: 16 })];
      expect(planned([wanted({ pciAddress: second, numVfs: 0 })], ports, [first]).steps).toEqual([
        "release 0000:3b:00.0",
      ]);
    });

    it("keeps values that nobody recorded, or that cannot be changed", () => {
      for (const kept of [firmware(), { ...changed, unavailable: "lockdown" }]) {
        expect(planned([], [port({ owned: true, firmware: kept })], [first]).steps).toEqual(["release 0000:3b:00.0"]);
      }
    });
  });
});
