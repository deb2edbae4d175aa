// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import type { InterfaceStatus } from "@switchyard/api";
import { withExpectedFirmware } from "./firmware/firmware-demand.ts";
import { plan } from "./plan.ts";

const pciAddress = "0000:3b:00.0";
const card: InterfaceStatus = { pciAddress, vendor: "15b3", totalvfs: 8, numVfs: 0, mtu: 1500, linkType: "ETH" };

function planned(pf: InterfaceStatus, policy: { isDisabled?: boolean; isResetAllowed?: boolean }) {
  const all = { isDisabled: false, isResetAllowed: true, ...policy };
  const spec = { interfaces: [{ pciAddress, numVfs: 16 }] };
  const { steps, impact, problems } = plan(spec, { interfaces: withExpectedFirmware([pf], all) }, new Map());
  return { kinds: steps.map(({ kind }) => kind), impact, problems: problems.map(({ message }) => message) };
}

describe("a plan before the firmware of a card was read", () => {
  it("resets the card, unless the feature gate forbids that", () => {
    expect(planned(card, {})).toEqual({ kinds: ["set-firmware", "reset-firmware"], impact: "drain", problems: [] });
    expect(planned(card, { isResetAllowed: false })).toMatchObject({
      kinds: ["set-firmware", "reboot"],
      impact: "reboot",
    });
  });

  it("switches SR-IOV on for a card without VFs", () => {
    const { totalvfs: _none, ...off } = card;
    expect(planned(off, {})).toMatchObject({ kinds: ["set-firmware", "reset-firmware"], problems: [] });
  });

  it("says that firmware is not changed if the plugin is disabled", () => {
    const { kinds, problems } = planned(card, { isDisabled: true });
    expect(kinds).toEqual([]);
    expect(problems.join()).toContain('disablePlugins contains "mellanox"');
  });

  it("uses what was read, and leaves other cards alone", () => {
    const read: InterfaceStatus = { ...card, firmware: { unavailable: "mstconfig is not installed" } };
    const other: InterfaceStatus = { ...card, vendor: "8086" };
    const policy = { isDisabled: false, isResetAllowed: true };
    expect(withExpectedFirmware([read, other], policy)).toEqual([read, other]);
  });
});
