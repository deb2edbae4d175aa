// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { bootUnits, machineConfigBootUnits } from "./boot-units.ts";

/** The units after which the second unit starts. */
function afterOf([, second]: typeof bootUnits): readonly string[] {
  return [...(second?.text ?? "").matchAll(/^After=(.*)$/gm)].flatMap(([, units = ""]) => units.split(" "));
}

describe("the second unit of a boot", () => {
  it("starts after the network is up, because a PF that the host uses is known by the routes of the host", () => {
    const waiting = ["systemd-networkd-wait-online.service", "NetworkManager-wait-online.service"];
    expect(afterOf(bootUnits)).toEqual(
      expect.arrayContaining([...waiting, "networking.service", "sriov-config.service"]),
    );
    expect(afterOf(machineConfigBootUnits)).toEqual(expect.arrayContaining([...waiting, "sriov-config.service"]));
  });
});
