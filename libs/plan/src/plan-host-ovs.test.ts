// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import type { SystemStatus } from "@switchyard/api";
import { plan } from "./plan.ts";
import { describeProblem } from "./problem.ts";
import { describeStep } from "./steps/step.ts";

function planned(wanted: boolean | undefined, system: SystemStatus) {
  const spec = wanted === undefined ? {} : { system: { openVSwitchDisabled: wanted } };
  const { steps, problems, impact, reasons } = plan(spec, { system }, new Map());
  return {
    steps: steps.map(describeStep),
    problems: problems.map(describeProblem),
    reasons: reasons.map(({ field, text }) => `${field}: ${text}`),
    impact,
  };
}

const field = "spec.system.openVSwitchDisabled";
const write = "write the files that disable Open vSwitch on the host";
const remove = "remove the files that disable Open vSwitch on the host";
const disable = "reboot for Open vSwitch disabled";
const enable = "reboot for Open vSwitch enabled";
const disabling = `${field}: Open vSwitch is disabled because OVN runs on the SmartNIC, which takes effect at the next boot`;
const enabling = `${field}: Open vSwitch is enabled again, which takes effect at the next boot`;
const nothing = { steps: [], problems: [], reasons: [], impact: "none" };
const written = { own: 5, complete: true };
const done = (cause: string) => ({ reboot: { causes: [cause], done: true } });

describe("Open vSwitch of the host", () => {
  it.each([undefined, false])("is left alone on a host that never had it disabled (%p)", (wanted) => {
    expect(planned(wanted, {})).toEqual(nothing);
  });

  it("is disabled by files and one reboot", () => {
    const reboots = { problems: [], reasons: [disabling], impact: "reboot" };
    expect(planned(true, {})).toEqual({ steps: [write, disable], ...reboots });
    expect(planned(true, { openVSwitchFiles: { own: 3, complete: false } })).toEqual({
      steps: [write, disable],
      ...reboots,
    });
    expect(planned(true, { openVSwitchFiles: written })).toEqual({ steps: [disable], ...reboots });
  });

  it("is disabled after the reboot, which is forgotten", () => {
    const system = { openVSwitchDisabled: true, openVSwitchFiles: written };
    expect(planned(true, system)).toEqual(nothing);
    expect(planned(true, { ...system, ...done("Open vSwitch disabled") }).steps).toEqual([
      "forget the reboot for Open vSwitch disabled",
    ]);
  });

  it("stays disabled without another reboot when a new release has other files", () => {
    const outdated = { openVSwitchDisabled: true, openVSwitchFiles: { own: 5, complete: false } };
    expect(planned(true, outdated)).toEqual({ ...nothing, steps: [write] });
  });

  it("does not reboot a second time if the files had no effect", () => {
    const { steps, problems, impact } = planned(true, { openVSwitchFiles: written, ...done("Open vSwitch disabled") });
    expect({ steps, impact }).toEqual({ steps: [], impact: "none" });
    expect(problems).toEqual([expect.stringContaining("Open vSwitch disabled is not in effect after a reboot")]);
  });

  it("is not disabled by somebody else's files", () => {
    const path = "/etc/systemd/system/openvswitch.service.d/10-x.conf";
    expect(planned(true, { openVSwitchFiles: { own: 0, complete: false, foreign: [path] } })).toEqual({
      ...nothing,
      problems: [
        `${field}: true requested, but ${path} has content that Switchyard did not write; remove or rename it`,
      ],
    });
  });

  it.each([undefined, false])("is enabled again by removing the files and one reboot (%p)", (wanted) => {
    const system = { openVSwitchDisabled: true, openVSwitchFiles: written };
    const reboots = { problems: [], reasons: [enabling], impact: "reboot" };
    expect(planned(wanted, system)).toEqual({ steps: [remove, enable], ...reboots });
    expect(planned(wanted, { openVSwitchDisabled: true })).toEqual({ steps: [enable], ...reboots });
    expect(planned(wanted, done("Open vSwitch enabled"))).toMatchObject({
      steps: ["forget the reboot for Open vSwitch enabled"],
      impact: "none",
    });
  });

  it("needs no reboot if the files never took effect", () => {
    expect(planned(undefined, { openVSwitchFiles: written })).toEqual({ ...nothing, steps: [remove] });
  });

  it("keeps files of others, such as those of a MachineConfig", () => {
    expect(planned(undefined, { openVSwitchFiles: { own: 0, complete: false, foreign: ["/etc/x"] } })).toEqual(nothing);
  });
});
