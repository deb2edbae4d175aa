// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { isGateOn } from "./feature-gates.ts";
import { operatorConfig } from "../testing/objects.ts";

describe("isGateOn", () => {
  it.each([
    { does: "takes the default without a config", config: undefined, on: true },
    { does: "takes the default where the config is silent", config: operatorConfig({}), on: true },
    {
      does: "takes the config's word",
      config: operatorConfig({ featureGates: { blockDevicePluginUntilConfigured: false } }),
      on: false,
    },
    { does: "ignores unknown gates", config: operatorConfig({ featureGates: { warpDrive: true } }), on: true },
  ])("$does", ({ config, on }) => {
    expect(isGateOn("blockDevicePluginUntilConfigured", config)).toBe(on);
  });

  it("switches bridges off by default", () => {
    expect(isGateOn("manageSoftwareBridges", operatorConfig({}))).toBe(false);
  });
});
