// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import fc from "fast-check";
import { isInterfaceName, type AfxdpInterfaceStatus, type AfxdpNetworkNodeState } from "@switchyard/api";
import { isDeviceId } from "./device.ts";
import { nodePools, type NodePool } from "./node-pools.ts";

const pciAddress = "0000:86:00.0";

function state(
  spec: AfxdpNetworkNodeState["spec"],
  ...interfaces: readonly AfxdpInterfaceStatus[]
): Pick<AfxdpNetworkNodeState, "spec" | "status"> {
  return { ...(spec && { spec }), status: { interfaces } };
}

describe("nodePools", () => {
  const primary = { name: "intel", mode: "primary" } as const;
  const one = { pciAddress, mode: "primary", poolName: "intel" } as const;

  it("has the settings of the pool and the devices that the node has reported", () => {
    const spec = {
      pools: [{ ...primary, uid: 1500, udsTimeout: -1 }],
      interfaces: [one, { ...one, pciAddress: "0000:86:00.1" }],
    };
    expect(nodePools(state(spec, { pciAddress, name: "ens1f0", numaNode: 1, queues: 8 }), [])).toEqual({
      pools: [
        {
          name: "intel",
          hasSocket: true,
          hasPinnedMap: false,
          idleTimeoutMs: 0,
          uid: 1500,
          requiresUnprivilegedBpf: false,
          devices: [{ id: pciAddress, name: "ens1f0", key: pciAddress, numaNode: 1, queues: 8 }],
        },
      ],
      problems: new Map([["intel", ["device 0000:86:00.1: the node does not report it"]]]),
    });
  });

  it("keeps the names of devices and subfunctions that are in pods", () => {
    const spec = {
      pools: [primary, { name: "sfs", mode: "subfunction" } as const],
      interfaces: [one, { pciAddress: "0000:87:00.0", mode: "subfunction", poolName: "sfs" } as const],
    };
    const device = "auxiliary/mlx5_core.sf.2";
    const sf = (name?: string) => ({ sfNumber: 4, device, poolName: "sfs", ...(name !== undefined && { name }) });
    const with_ = (own: { name?: string }, sfName?: string) =>
      state(spec, { pciAddress, ...own }, { pciAddress: "0000:87:00.0", name: "pf", subfunctions: [sf(sfName)] });
    const names = (pools: readonly NodePool[]) => pools.map((p) => p.devices.map(({ name }) => name));
    const ids = (pools: readonly NodePool[]) => pools.map((p) => p.devices.map(({ id }) => id));
    const before = nodePools(with_({ name: "ens1f0" }, "sf4"), []);
    expect(names(before.pools)).toEqual([["ens1f0"], ["sf4"]]);
    expect(ids(before.pools)).toEqual([[pciAddress], ["mlx5_core.sf.2"]]);
    expect(names(nodePools(with_({}), before.pools).pools)).toEqual([["ens1f0"], ["sf4"]]);
    expect(names(nodePools(with_({}), []).pools)).toEqual([[], []]);
  });

  it("keeps the subfunctions of a device that is missing in the report, until it is reported without them", () => {
    const spec = {
      pools: [{ name: "sfs", mode: "subfunction" } as const],
      interfaces: [{ pciAddress, mode: "subfunction", poolName: "sfs" } as const],
    };
    const subfunctions = [{ sfNumber: 4, device: "auxiliary/ice.sf.0", name: "sf4", poolName: "sfs" }];
    const before = nodePools(state(spec, { pciAddress, name: "pf", numaNode: 1, subfunctions }), []);
    expect(before.pools[0]?.devices).toHaveLength(1);
    expect(nodePools(state(spec, { pciAddress: "0000:99:00.0" }), before.pools)).toEqual(before);
    expect(nodePools(state(spec, { pciAddress, name: "pf" }), before.pools).pools[0]?.devices).toEqual([]);
  });

  it("keeps a device without PCI address that is in a pod, and hides topology", () => {
    const spec = {
      pools: [{ ...primary, excludeTopology: true }],
      interfaces: [{ name: "v0", mode: "primary", poolName: "intel" } as const],
    };
    const before = nodePools(state(spec, { name: "v0", numaNode: 0 }), []);
    expect(before.pools[0]?.devices).toEqual([{ id: "v0", name: "v0", key: "v0", queues: 64 }]);
    expect(nodePools(state(spec), before.pools).pools).toEqual(before.pools);
  });

  it("refuses pools whose variables would be the same, and devices of two pools", () => {
    const spec = {
      pools: [{ ...primary, name: "INTEL" }, primary, { ...primary, name: "other" }],
      interfaces: [
        { ...one, poolName: "INTEL" },
        { ...one, poolName: "other" },
      ],
    };
    const { pools, problems } = nodePools(state(spec, { pciAddress, name: "ens1f0" }), []);
    expect(pools.map(({ name, devices }) => [name, devices.length])).toEqual([
      ["INTEL", 1],
      ["other", 0],
    ]);
    expect([...problems.keys()]).toEqual(["intel", "other"]);
  });

  it("uses no name that could leave a directory or a list, whatever the API says", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.string(), fc.string(), (name, poolName, device) => {
        const sfs = { ...one, mode: "subfunction" } as const;
        const spec = {
          pools: [{ ...primary, name: poolName }, { name: "sfs", mode: "subfunction" } as const],
          interfaces: [
            { ...one, pciAddress: device, poolName },
            { ...sfs, poolName: "sfs" },
          ],
        };
        const subfunctions = [{ sfNumber: 1, device: `auxiliary/${device}`, name: "sf1", poolName: "sfs" }];
        const known = [
          { pciAddress: device, name },
          { pciAddress, name: "pf", subfunctions },
        ];
        const { pools } = nodePools(state(spec, ...known), []);
        const devices = pools.flatMap((pool) => pool.devices);
        expect(devices.every((one) => /^[^\s/]{1,15}$/.test(one.name) && isInterfaceName(one.name))).toBe(true);
        expect(devices.every(({ id }) => /^[^\s/]{1,64}$/.test(id) && isDeviceId(id))).toBe(true);
        expect(pools.every((pool) => /^[A-Za-z0-9]{1,20}$/.test(pool.name))).toBe(true);
      }),
    );
  });
});

describe("nodePools, with devices that pods cannot get", () => {
  const spec = (numSfs?: number) => {
    const mode = numSfs === undefined ? "primary" : "subfunction";
    const one = { pciAddress, poolName: "intel", mode, ...(numSfs !== undefined && { numSfs }) } as const;
    return { pools: [{ name: "intel", mode } as const], interfaces: [one] };
  };
  const sf = { sfNumber: 0, poolName: "intel", state: "active", driver: "mlx5_core.sf" };
  const device = "auxiliary/mlx5_core.sf.2";

  it.each([
    {
      what: "a device of vfio-pci",
      spec: spec(),
      status: { driver: "vfio-pci" },
      says: "it has no network interface: it is bound to vfio-pci",
    },
    {
      what: "a device without driver",
      spec: spec(),
      status: {},
      says: "it has no network interface: no driver is bound to it",
    },
    {
      what: "a device without interface",
      spec: spec(),
      status: { driver: "ice" },
      says: "its driver ice has created no network interface on the host",
    },
    { what: "no subfunction", spec: spec(2), status: { name: "pf" }, says: "it has 0 of 2 subfunctions" },
    {
      what: "a subfunction without interface",
      spec: spec(1),
      status: { name: "pf", subfunctions: [{ ...sf, device }] },
      says: "its driver mlx5_core.sf has created no network interface on the host",
    },
    {
      what: "an inactive subfunction",
      spec: spec(1),
      status: { name: "pf", subfunctions: [{ ...sf, state: "inactive" }] },
      says: "it is not active",
    },
  ])("says why $what is not offered", ({ spec: wanted, status, says }) => {
    const { pools, problems } = nodePools(state(wanted, { pciAddress, ...status }), []);
    expect(pools.flatMap(({ devices }) => devices)).toEqual([]);
    expect(problems.get("intel")).toEqual([expect.stringContaining(says)]);
  });

  it("finds the name of a device in a pod in the spec, if the plugin has lost its record", () => {
    const { interfaces, ...more } = spec();
    const wanted = { ...more, interfaces: interfaces.map((one) => ({ ...one, name: "ens1f0" })) };
    const { pools } = nodePools(state(wanted, { pciAddress, driver: "ice", owned: true }), []);
    expect(pools[0]?.devices).toMatchObject([{ id: pciAddress, name: "ens1f0" }]);
  });

  it("reads many subfunctions that clash once each", () => {
    const cards = Array.from({ length: 256 }, (_, at) => `0000:${at.toString(16).padStart(2, "0")}:00.0`);
    const subfunctions = Array.from({ length: 1_024 }, (_, sfNumber) => ({ ...sf, sfNumber, device, name: "same" }));
    let reads = 0;
    const counted = subfunctions.map((one) => ({
      ...one,
      get name() {
        reads++;
        return "same";
      },
    }));
    const interfaces = cards.map((each) => ({ pciAddress: each, poolName: "intel", mode: "subfunction" }) as const);
    const { pools, problems } = nodePools(
      {
        spec: { pools: [{ name: "intel", mode: "subfunction" }], interfaces },
        status: { interfaces: cards.map((each) => ({ pciAddress: each, name: "pf", subfunctions: counted })) },
      },
      [],
    );
    expect([pools[0]?.devices.length, problems.get("intel")?.length]).toEqual([1, 256 * 1_024 - 1]);
    expect(reads).toBeLessThan(4 * 256 * 1_024);
  });
});
