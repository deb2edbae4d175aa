// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { bridgeConf, bridgeConfIfPossible, confOfAdd } from "./bridge-conf.ts";
import { cniCode } from "../request/cni-error.ts";
import type { JsonObject } from "../request/json.ts";

const conf: JsonObject = {
  cniVersion: "0.3.1",
  name: "cbr0",
  type: "eve-bridge",
  nodeIP: "10.244.244.1/28",
  ipMasq: true,
  mtu: 1450,
  ipam: { type: "host-local", ranges: [[{ subnet: "10.42.0.0/24" }]], routes: [{ dst: "10.42.0.0/16" }] },
};

describe("bridgeConf", () => {
  it("requests a default route and keeps the configured routes", () => {
    expect(bridgeConf(conf, "default-route")).toEqual({
      ...conf,
      isDefaultGateway: true,
      forceAddress: true,
      hairpinMode: true,
    });
  });

  it("requests no default route and adds the routes to the services and the node, in this order", () => {
    expect(bridgeConf(conf, "cluster-only")).toEqual({
      ...conf,
      isDefaultGateway: false,
      forceAddress: true,
      hairpinMode: true,
      ipam: {
        type: "host-local",
        ranges: [[{ subnet: "10.42.0.0/24" }]],
        routes: [{ dst: "10.42.0.0/16" }, { dst: "10.43.0.0/16" }, { dst: "10.244.244.1/28" }],
      },
    });
  });

  it("does not modify its argument", () => {
    const before = structuredClone(conf);
    bridgeConf(conf, "cluster-only");
    expect(conf).toEqual(before);
  });

  it.each([
    { change: { nodeIP: undefined }, says: "nodeIP was not provided" },
    { change: { nodeIP: "" }, says: "nodeIP was not provided" },
    { change: { nodeIP: 7 }, says: "nodeIP must be a string, not number" },
    { change: { nodeIP: "10.0.0.1" }, says: 'nodeIP "10.0.0.1" must be an IP address with a prefix length' },
    { change: { ipam: undefined }, says: "ipam must be an object, not missing" },
    { change: { ipam: [] }, says: "ipam must be an object, not array" },
    { change: { ipam: {} }, says: "ipam.routes must be an array, not missing" },
    { change: { ipam: { routes: "x" } }, says: "ipam.routes must be an array, not string" },
  ])("fails with code 7 when it cannot: $says", ({ change, says }) => {
    const build = () => bridgeConf({ ...conf, ...change }, "cluster-only");
    expect(build).toThrow(expect.objectContaining({ code: cniCode.invalidConfig }));
    expect(build).toThrow(says);
    expect(() => bridgeConf({ ...conf, ...change }, "default-route")).not.toThrow();
  });
});

describe("bridgeConfIfPossible", () => {
  it.each(["cluster-only", "default-route"] as const)(
    "returns the result of bridgeConf for a valid configuration: %s",
    (policy) => {
      expect(bridgeConfIfPossible(conf, policy)).toEqual(bridgeConf(conf, policy));
    },
  );

  it("needs neither ipam nor nodeIP", () => {
    expect(bridgeConfIfPossible({ name: "cbr0" }, "cluster-only")).toEqual({
      name: "cbr0",
      isDefaultGateway: false,
      forceAddress: true,
      hairpinMode: true,
    });
  });
});

describe("confOfAdd", () => {
  it("is the recorded configuration, in the version of the later call and with its prevResult", () => {
    const later = { cniVersion: "1.0.0", name: "cbr0", mtu: 9000, prevResult: { cniVersion: "1.0.0" } };
    expect(confOfAdd(later, { conf })).toEqual({ ...conf, cniVersion: "1.0.0", prevResult: later.prevResult });
  });

  it("is the configuration of the later call if there is no record", () => {
    expect(confOfAdd(conf, undefined)).toBe(conf);
  });
});
