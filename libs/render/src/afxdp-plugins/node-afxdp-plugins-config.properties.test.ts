// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import fc from "fast-check";
import type { AfxdpInterfaceSpec, AfxdpInterfaceStatus, AfxdpNetworkNodeState, AfxdpPoolSpec } from "@switchyard/api";
import { formatAfxdpPluginsConfig } from "./afxdp-plugins-config.ts";
import { nodeAfxdpPluginsConfig } from "./node-afxdp-plugins-config.ts";
import { pluginRefusals } from "./testing/plugin-refusals.ts";

const poolNames = ["intel", "INTEL", "a", "b7", "my-pool", "", "x".repeat(21)];
const addresses = ["0000:86:00.0", "0000:86:00.1", "0000:87:00.0", ""];
const names = ["ens1f0", "ens1f1", "enp3s0f0np0", "eth0", "eno1", "lo", "docker0", "veth1", "a.b", "ä", "x".repeat(51)];
const mode = fc.constantFrom("primary", "subfunction");
const number = fc.constantFrom(-2, -1, 0, 1, 29, 30, 300, 301, 999, 1000, 256_000, 256_001, 1.5);
const optional = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: undefined });

const pool = fc.record(
  {
    name: fc.constantFrom(...poolNames),
    mode,
    udsServer: fc.boolean(),
    bpfMapPinning: fc.boolean(),
    udsTimeout: number,
    uid: number,
    requiresUnprivilegedBpf: fc.boolean(),
  },
  { requiredKeys: ["name", "mode"] },
) as fc.Arbitrary<AfxdpPoolSpec>;
const wanted = fc.record(
  {
    pciAddress: fc.constantFrom(...addresses),
    name: fc.constantFrom(...names),
    mode,
    poolName: fc.constantFrom(...poolNames),
  },
  { requiredKeys: ["mode", "poolName"] },
) as fc.Arbitrary<AfxdpInterfaceSpec>;
const row = fc.record(
  {
    pciAddress: fc.constantFrom(...addresses),
    name: fc.constantFrom("", ...names),
    driver: fc.constant("ice"),
    linkAdminState: fc.constant("up"),
    recordedNames: fc.array(fc.constantFrom("", ...names), { maxLength: 2 }),
  },
  { requiredKeys: [] },
) as fc.Arbitrary<AfxdpInterfaceStatus>;
const states: fc.Arbitrary<Pick<AfxdpNetworkNodeState, "spec" | "status">> = fc.record({
  spec: fc.record({
    pools: fc.array(pool, { maxLength: 4 }),
    interfaces: fc.array(wanted, { maxLength: 6 }),
  }),
  status: fc.record({ interfaces: fc.array(row, { maxLength: 6 }) }),
});
const facts = fc.record({
  verbosity: optional(fc.constantFrom(0, 1, 2)),
  kernelRelease: optional(fc.constantFrom("6.8.0-45-generic", "6.12.117+deb12-amd64", "4.4.0")),
  unprivilegedBpfDisabled: optional(fc.constantFrom("0", "1", "2")),
  knownNames: fc.constant(new Map([["0000:87:00.0", "ens3"]])),
});

describe("the configuration of afxdp-plugins-for-kubernetes", () => {
  it("is never refused by the plugin, and lists each device and variable once", () => {
    fc.assert(
      fc.property(states, facts, (state, known) => {
        const { config, devices } = nodeAfxdpPluginsConfig(state, known);
        expect(pluginRefusals(JSON.parse(formatAfxdpPluginsConfig(config)))).toEqual([]);
        expect(config.pools.every((one) => one.devices.length > 0)).toBe(true);
        const listed = config.pools.flatMap((one) => one.devices.map(({ name }) => name));
        expect(listed).toEqual(devices.map(({ name }) => name));
        expect(new Set(listed).size).toBe(listed.length);
        expect(listed.filter((name) => /^(eno|eth|lo|docker|flannel|cni)/.test(name))).toEqual([]);
        const variables = config.pools.map(({ name }) => name.toUpperCase());
        expect(new Set(variables).size).toBe(variables.length);
        expect(config.pools.filter(({ bpfMapPinningEnable, uid = 0 }) => bpfMapPinningEnable && uid !== 0)).toEqual([]);
      }),
    );
  });

  it("offers each device of a pool or says why it does not", () => {
    fc.assert(
      fc.property(states, facts, (state, known) => {
        const { devices, problems } = nodeAfxdpPluginsConfig(state, known);
        for (const { name } of state.spec?.pools ?? []) {
          const own = (state.spec?.interfaces ?? []).filter((one) => one.poolName === name);
          const has = devices.some(({ poolName }) => poolName === name);
          const said = problems.some(({ poolName }) => poolName === name);
          const pools = (state.spec?.pools ?? []).filter((one) => one.name === name);
          const isOffered = own.some((one) => pools.some((each) => each.mode === one.mode));
          if (isOffered) expect(has || said).toBe(true);
        }
      }),
    );
  });

  it("does not depend on the order of distinct pools and devices", () => {
    fc.assert(
      fc.property(states, facts, ({ spec, status }, known) => {
        const pools = [...new Map((spec?.pools ?? []).map((one) => [one.name, one])).values()];
        const key = (one: { pciAddress?: string; name?: string }) => one.pciAddress || (one.name ?? "");
        const distinct = <Row extends AfxdpInterfaceSpec | AfxdpInterfaceStatus>(rows: readonly Row[]) => [
          ...new Map(rows.map((one) => [key(one), one])).values(),
        ];
        const given = {
          spec: { pools, interfaces: distinct(spec?.interfaces ?? []) },
          status: { interfaces: distinct(status?.interfaces ?? []) },
        };
        const turned = {
          spec: { pools: pools.toReversed(), interfaces: given.spec.interfaces.toReversed() },
          status: { interfaces: given.status.interfaces.toReversed() },
        };
        expect(nodeAfxdpPluginsConfig(turned, known)).toEqual(nodeAfxdpPluginsConfig(given, known));
      }),
    );
  });
});
