// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import type { CardModeStatus, InterfaceSpec, InterfaceStatus } from "@switchyard/api";
import { ownedInStatus } from "../pf/owned-pf.ts";
import { plan } from "../plan.ts";
import { describeProblem } from "../problem.ts";
import { describeStep } from "../steps/step.ts";

const first = "0000:3b:00.0";
const second = "0000:3b:00.1";

/** A port of a BlueField-2 that supports 16 VFs. */
function port(cardMode: CardModeStatus | undefined, overrides: Partial<InterfaceStatus> = {}): InterfaceStatus {
  return {
    pciAddress: first,
    vendor: "15b3",
    deviceID: "a2d6",
    driver: "mlx5_core",
    mtu: 1500,
    linkType: "ETH",
    linkAdminState: "up",
    eSwitchMode: "legacy",
    totalvfs: 16,
    numVfs: 0,
    ...(cardMode && { cardMode }),
    ...overrides,
  };
}

function planned(ports: readonly InterfaceStatus[], specs?: readonly InterfaceSpec[]) {
  const observed = { interfaces: ports };
  const interfaces = specs ?? [{ pciAddress: first, numVfs: 4, cardMode: "embedded-cpu" }];
  const { steps, problems, impact, reasons, waiting } = plan({ interfaces }, observed, ownedInStatus(observed));
  return {
    steps: steps.map(describeStep),
    problems: problems.map(describeProblem),
    impact,
    reasons,
    waiting,
  };
}

const setVfs = "set sriov_numvfs 0 -> 4 on 0000:3b:00.0";
const field = "spec.interfaces[0].cardMode";
const powerCycle = (mode: string, model = "bluefield-2") =>
  `${field}: "embedded-cpu" requested, but card 0000:3b:00 (${model}) runs in mode ${mode}; the other ` +
  "mode takes effect when the host is switched off and on again, a reboot is not enough";

describe("the mode of a SmartNIC", () => {
  it.each(["embedded-cpu", "restricted"] as const)("is right if it is %s", (mode) => {
    expect(planned([port({ current: mode, next: mode })])).toMatchObject({ steps: [setVfs], problems: [] });
  });

  it("does not matter unless the spec requests it", () => {
    const spec = { pciAddress: first, numVfs: 4 };
    expect(planned([port({ current: "nic", next: "nic" })], [spec])).toMatchObject({ steps: [setVfs], problems: [] });
  });

  it.each([
    { from: "separated-host", deviceID: "a2d6", settings: "INTERNAL_CPU_MODEL=1" },
    { from: "separated-host", deviceID: "a2dc", settings: "INTERNAL_CPU_MODEL=1" },
    {
      from: "nic",
      deviceID: "a2d6",
      settings:
        "INTERNAL_CPU_MODEL=1 INTERNAL_CPU_PAGE_SUPPLIER=0 INTERNAL_CPU_ESWITCH_MANAGER=0 INTERNAL_CPU_IB_VPORT0=0 " +
        "INTERNAL_CPU_OFFLOAD_ENGINE=0",
    },
    { from: "nic", deviceID: "a2dc", settings: "INTERNAL_CPU_OFFLOAD_ENGINE=0" },
  ] as const)(
    "is set from $from on $deviceID; VFs are created, and no pod is disturbed",
    ({ from, deviceID, settings }) => {
      expect(planned([port({ current: from, next: from }, { deviceID })])).toEqual({
        steps: [
          `set card mode embedded-cpu of ${first} (${settings}), in effect after a power cycle of the host`,
          setVfs,
        ],
        problems: [powerCycle(from, deviceID === "a2d6" ? "bluefield-2" : "bluefield-3")],
        impact: "none",
        reasons: [],
        waiting: undefined,
      });
    },
  );

  it("needs a power cycle after it was set, and never a reboot", () => {
    const set = port({ current: "separated-host", next: "embedded-cpu", powerCycleRequired: true });
    expect(planned([set])).toMatchObject({
      steps: [setVfs],
      problems: [powerCycle("separated-host")],
      impact: "none",
    });
  });

  it("is set on all ports of the card", () => {
    const nic = { current: "nic", next: "nic" } as const;
    const result = planned([port(nic, { deviceID: "a2dc" }), port(nic, { pciAddress: second, deviceID: "a2dc" })]);
    expect(result.steps.filter((step) => step.startsWith("set card mode"))).toEqual(
      [first, second].map((pf) => expect.stringContaining(`embedded-cpu of ${pf} (`)),
    );
  });

  it("needs a power cycle if one port still has another mode", () => {
    const embedded = port({ current: "embedded-cpu", next: "embedded-cpu" });
    const other = port({ current: "nic", next: "embedded-cpu" }, { pciAddress: second });
    expect(planned([embedded, other]).problems).toEqual([powerCycle("nic")]);
  });

  it("is set again if somebody has chosen another mode for the next power cycle", () => {
    const result = planned([port({ current: "embedded-cpu", next: "separated-host" })]);
    expect(result).toMatchObject({ steps: [expect.stringContaining("INTERNAL_CPU_MODEL=1)"), setVfs], problems: [] });
  });

  it("cannot be set by the host of a restricted card", () => {
    expect(planned([port({ current: "restricted", next: "nic" })])).toMatchObject({
      steps: [setVfs],
      problems: [
        `${field}: "embedded-cpu" requested, but card 0000:3b:00 will run in mode nic after a power cycle, and is ` +
          "restricted, so the host may not change it; change the mode on the system of the card",
      ],
    });
  });

  it("is never guessed: unknown settings are reported and stay", () => {
    expect(planned([port({ current: "unknown", next: "unknown" })])).toMatchObject({
      steps: [setVfs],
      problems: [expect.stringContaining(`the firmware settings INTERNAL_CPU_… of ${first} are incomplete`)],
    });
  });

  it("is a problem if it cannot be read, and other PFs are configured", () => {
    const unavailable = port({ current: "unknown", unavailable: "mstconfig is not installed" });
    const result = planned(
      [unavailable, port(undefined, { pciAddress: "0000:5e:00.0" })],
      [
        { pciAddress: first, cardMode: "embedded-cpu" },
        { pciAddress: "0000:5e:00.0", numVfs: 2 },
      ],
    );
    expect(result.steps).toEqual(["set sriov_numvfs 0 -> 2 on 0000:5e:00.0"]);
    expect(result.problems).toEqual([
      `${field}: "embedded-cpu" requested, but the mode of card 0000:3b:00 cannot be read or changed: mstconfig is not installed`,
    ]);
  });

  it("is not planned before it was read, nor for another card", () => {
    expect(planned([port(undefined)])).toMatchObject({ steps: [setVfs], problems: [] });
    const connectx = port({ current: "nic", next: "nic" }, { deviceID: "1017" });
    expect(planned([connectx])).toMatchObject({ steps: [setVfs], problems: [] });
  });

  it("takes other firmware settings with it, which need neither a reset nor a reboot of their own", () => {
    const numVfs = { current: 4, next: 4 };
    const few = { totalvfs: 4, firmware: { numVfs, sriovEnabled: { current: true, next: true }, resetAllowed: true } };
    const result = planned(
      [port({ current: "separated-host", next: "embedded-cpu" }, few)],
      [{ pciAddress: first, numVfs: 16, cardMode: "embedded-cpu" }],
    );
    expect(result).toMatchObject({
      steps: ["set NUM_OF_VFS=16 in the firmware of card 0000:3b:00"],
      impact: "none",
      waiting: [first],
      problems: [powerCycle("separated-host")],
    });
  });

  it("that is embedded-cpu leaves other firmware settings to the system on the card", () => {
    const firmware = { numVfs: { current: 4, next: 4 }, unavailable: "the card is in DPU mode" };
    const result = planned(
      [port({ current: "embedded-cpu", next: "embedded-cpu" }, { totalvfs: 4, firmware })],
      [{ pciAddress: first, numVfs: 16, cardMode: "embedded-cpu" }],
    );
    expect(result.steps).toEqual([]);
    expect(result.problems).toEqual([expect.stringContaining("the card is in DPU mode")]);
  });
});
