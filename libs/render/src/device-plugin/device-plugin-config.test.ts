// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import fc from "fast-check";
import { devicePluginConfigMap, formatDevicePluginConfig } from "./device-plugin-config.ts";

const flags = { IsRdma: false, NeedVhostNet: false };

describe("formatDevicePluginConfig", () => {
  it("escapes the same characters as Go's encoder", () => {
    const resourceList = [{ resourceName: "<a>&\u2028", selectors: flags, SelectorObj: null }];
    expect(formatDevicePluginConfig({ resourceList })).toBe(
      '{"resourceList":[{"resourceName":"\\u003ca\\u003e\\u0026\\u2028","selectors":{"IsRdma":false,"NeedVhostNet":false},"SelectorObj":null}]}',
    );
  });

  it("returns JSON with unchanged strings for any input", () => {
    const texts = fc.string({ unit: "binary" });
    const survive = fc.property(texts, fc.array(texts), (resourceName, pfNames) => {
      const config = { resourceList: [{ resourceName, selectors: { pfNames, ...flags } }] };
      expect(JSON.parse(formatDevicePluginConfig(config))).toEqual(config);
    });
    fc.assert(survive);
  });
});

describe("devicePluginConfigMap", () => {
  it("has the text of each node under the node's name, sorted", () => {
    const resourceList = [{ resourceName: "a", selectors: flags }];
    const texts = new Map([
      ["worker-2", formatDevicePluginConfig({ resourceList: null })],
      ["worker-1", formatDevicePluginConfig({ resourceList })],
    ]);
    expect(JSON.stringify(devicePluginConfigMap("sriov-network-operator", texts))).toBe(
      JSON.stringify({
        apiVersion: "v1",
        kind: "ConfigMap",
        metadata: { name: "device-plugin-config", namespace: "sriov-network-operator" },
        data: { "worker-1": JSON.stringify({ resourceList }), "worker-2": '{"resourceList":null}' },
      }),
    );
  });
});
