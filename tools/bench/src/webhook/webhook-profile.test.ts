// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { interfacesOf } from "../fleet/fleet-profile.ts";
import { reportedInterfaces, webhookProfiles } from "./webhook-profile.ts";

describe("reportedInterfaces", () => {
  it("is the fleet's where no pod has VFs", () => {
    expect(reportedInterfaces(webhookProfiles.vf256, 5)).toEqual(interfacesOf(webhookProfiles.vf256, 5));
    expect(reportedInterfaces(webhookProfiles.pf6, 5)).toEqual(interfacesOf(webhookProfiles.pf6, 5));
  });

  it("hides other VFs on each node where pods have some", () => {
    const hidden = Array.from({ length: 1000 }, (_, node) => {
      const [pf] = reportedInterfaces(webhookProfiles["vf256-in-pods"], node);
      return (pf?.Vfs ?? []).filter(({ name }) => name === undefined).map(({ vfID }) => vfID);
    });
    expect(new Set(hidden.map((ids) => ids.length))).toEqual(new Set([10]));
    expect(new Set(hidden.map((ids) => ids.join())).size).toBeGreaterThan(950);
  });
});
