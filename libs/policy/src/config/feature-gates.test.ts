// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { firmwarePolicyOf, isGateOn } from "./feature-gates.ts";
import { operatorConfig } from "../testing/objects.ts";

describe("isGateOn", () => {
  it.each([
    { does: "uses the default without a config", config: undefined, on: true },
    { does: "uses the default if the config does not set the gate", config: operatorConfig({}), on: true },
    {
      does: "uses the value in the config",
      config: operatorConfig({ featureGates: { blockDevicePluginUntilConfigured: false } }),
      on: false,
    },
    { does: "ignores unknown gates", config: operatorConfig({ featureGates: { warpDrive: true } }), on: true },
  ])("$does", ({ config, on }) => {
    expect(isGateOn("blockDevicePluginUntilConfigured", config)).toBe(on);
  });

  it("is false for manageSoftwareBridges by default", () => {
    expect(isGateOn("manageSoftwareBridges", operatorConfig({}))).toBe(false);
  });
});

describe("firmwarePolicyOf", () => {
  it("allows settings and resets by default", () => {
    expect(firmwarePolicyOf(undefined)).toEqual({ isDisabled: false, isResetAllowed: true });
  });

  it("is disabled with the plugin mellanox, and allows no reset without the gate", () => {
    const config = operatorConfig({ disablePlugins: ["mellanox"], featureGates: { mellanoxFirmwareReset: false } });
    expect(firmwarePolicyOf(config)).toEqual({ isDisabled: true, isResetAllowed: false });
  });
});
