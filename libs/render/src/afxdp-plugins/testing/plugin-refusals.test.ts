// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { pluginRefusals } from "./plugin-refusals.ts";

const pool = { name: "myPool", mode: "primary", devices: [{ name: "ens1f0" }] };
const drivers = (driver: object) => ({ ...pool, drivers: [driver] });
const node = (one: object) => ({ ...pool, nodes: [one] });

// The words of the real plugin (ORIGIN: the header of plugin-refusals.ts).
const refused: readonly (readonly [string, unknown])[] = [
  ["cannot be null", null],
  ["Pool must have a name", { ...pool, name: "" }],
  ["Pool name must only contain letters and numbers", { ...pool, name: "my-pool" }],
  ["Pool name must only contain letters and numbers", { ...pool, name: "my_pool" }],
  ["between 1 and 20 characters", { ...pool, name: "a".repeat(21) }],
  ["Plugin must have a mode", { ...pool, mode: "" }],
  ["Plugin mode must be one of [primary cdq]", { ...pool, mode: "subfunction" }],
  ["Pool must contain devices, drivers or nodes", { ...pool, devices: [] }],
  ["UDS socket timeout must be -1, 0, or between 30 and 300 seconds", { ...pool, udsTimeout: 29 }],
  ["UDS socket timeout must be -1, 0, or between 30 and 300 seconds", { ...pool, UdsTimeout: 301 }],
  ["must be no less than 1000", { ...pool, uid: 999 }],
  ["must be no greater than 256000", { ...pool, uid: 256_001 }],
  ["Driver must have a name", drivers({ name: "" })],
  ["Driver name must only contain letters, numbers, hyphen and underscore", drivers({ name: "i40e!" })],
  ["Number of primary devices must be between 1 and 100", drivers({ name: "ice", primary: 11 })],
  ["Number of primary devices must be between 1 and 100", drivers({ name: "ice", primary: -1 })],
  ["secondary devices must be between 1 and 1000", drivers({ name: "ice", secondary: 65 })],
  ["Device must be identified by either name, pci, or mac", { ...pool, devices: [{}] }],
  ["Only one form of device identification", { ...pool, devices: [{ name: "a", mac: "02:00:00:00:00:01" }] }],
  ["Device PCI must be a valid BDF PCI address", { ...pool, devices: [{ pci: "86:00.0" }] }],
  ["Device MAC must be a valid MAC address", { ...pool, devices: [{ mac: "02:00" }] }],
  ["Device name must only contain", { ...pool, devices: [{ name: "ens1f0.100" }] }],
  ["Node must have a hostname", node({ devices: [{ name: "a" }] })],
  ["Node hostname must be a valid Linux hostname", node({ hostname: "w1.example", devices: [{ name: "a" }] })],
  ["Node must contain devices or drivers", node({ hostname: "w1" })],
];

describe("pluginRefusals", () => {
  it.each(refused)('says "%s" about %j', (words, one) => {
    expect(pluginRefusals({ pools: [one] })).toEqual([expect.stringContaining(words)]);
  });

  it("judges the log", () => {
    expect(pluginRefusals({ logLevel: "panic", logFile: "/tmp/x.log" })).toEqual([
      "LogLevel: must be [debug info warning error]",
      "LogFile: must be a valid .log or .txt filename",
    ]);
  });

  it("accepts what the plugin accepts", () => {
    const others = { ethtoolCmds: ["x"], uid: 0, udsTimeout: -1 };
    expect(pluginRefusals({})).toEqual([]);
    expect(pluginRefusals({ Pools: [{ ...pool, ...others }, pool], logLevel: "info" })).toEqual([]);
  });
});
