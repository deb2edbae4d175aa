// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import type { AfxdpInterfaceStatus, AfxdpNetworkNodeState, AfxdpPoolSpec } from "@switchyard/api";
import { formatAfxdpPluginsConfig } from "./afxdp-plugins-config.ts";
import { nodeAfxdpPluginsConfig, type AfxdpPluginsSettings } from "./node-afxdp-plugins-config.ts";
import { pluginRefusals } from "./testing/plugin-refusals.ts";

const pciAddress = "0000:86:00.0";
const port: AfxdpInterfaceStatus = { pciAddress, name: "ens1f0", driver: "ice", linkAdminState: "up" };
const intel: AfxdpPoolSpec = { name: "intel", mode: "primary" };

type State = Pick<AfxdpNetworkNodeState, "spec" | "status">;

/** A node whose reported devices are all in the pool. */
function state(pool: Partial<AfxdpPoolSpec> = {}, interfaces: readonly AfxdpInterfaceStatus[] = [port]): State {
  const own = { ...intel, ...pool };
  const wanted = interfaces.map((nic) => {
    return { ...(nic.pciAddress ? { pciAddress: nic.pciAddress } : { name: nic.name ?? "" }), mode: own.mode };
  });
  return {
    spec: { pools: [own], interfaces: wanted.map((one) => ({ ...one, poolName: own.name })) },
    status: { interfaces },
  };
}

const render = (given: State, facts?: AfxdpPluginsSettings) => nodeAfxdpPluginsConfig(given, facts);
const messages = (given: State, facts?: AfxdpPluginsSettings) =>
  render(given, facts).problems.map((one) => one.message);

describe("nodeAfxdpPluginsConfig", () => {
  it("lists the devices of each pool by name, with the settings that differ from the plugin's defaults", () => {
    const second = { ...port, pciAddress: "0000:86:00.1", name: "ens1f1" };
    const given = state({ uid: 1500, udsTimeout: -1, requiresUnprivilegedBpf: true }, [second, port]);
    const rendered = render(given, { verbosity: 2, unprivilegedBpfDisabled: "0", kernelRelease: "6.8.0-45-generic" });
    expect(formatAfxdpPluginsConfig(rendered.config)).toBe(`{
  "logLevel": "debug",
  "pools": [
    {
      "name": "intel",
      "mode": "primary",
      "devices": [
        {
          "name": "ens1f0"
        },
        {
          "name": "ens1f1"
        }
      ],
      "uid": 1500,
      "udsTimeout": -1,
      "requiresUnprivilegedBpf": true
    }
  ]
}
`);
    expect(rendered.problems).toEqual([]);
    expect(rendered.devices).toEqual([
      { poolName: "intel", key: pciAddress, name: "ens1f0", isOnHost: true },
      { poolName: "intel", key: "0000:86:00.1", name: "ens1f1", isOnHost: true },
    ]);
  });

  it.each([
    { pool: {}, own: {} },
    { pool: { udsServer: false }, own: { udsServerDisable: true } },
    { pool: { bpfMapPinning: true }, own: { udsServerDisable: true, bpfMapPinningEnable: true } },
    { pool: { udsTimeout: 0, uid: 0 }, own: {} },
  ])("passes maps as $pool says", ({ pool, own }) => {
    expect(render(state(pool)).config.pools).toEqual([
      { name: "intel", mode: "primary", devices: [{ name: "ens1f0" }], ...own },
    ]);
  });

  it.each([
    { verbosity: 0, logLevel: "warning" },
    { verbosity: 1, logLevel: "info" },
    { verbosity: 2, logLevel: "debug" },
    { verbosity: undefined, logLevel: "info" },
  ])("has the log level $logLevel for $verbosity", ({ verbosity, logLevel }) => {
    expect(render({}, { verbosity }).config).toEqual({ logLevel, pools: [] });
  });

  it.each<[Partial<AfxdpPoolSpec>, string]>([
    [{ name: "my-pool" }, "the name must consist of letters and digits"],
    [{ name: "a".repeat(21) }, "the name must consist of letters and digits"],
    [{ name: "" }, "the name must consist of letters and digits"],
    [{ udsTimeout: 29 }, "udsTimeout must be -1 (never), 0 (the default) or a number of seconds from 30 to 300"],
    [{ udsTimeout: 301 }, "udsTimeout must be"],
    [{ udsTimeout: -2 }, "udsTimeout must be"],
    [{ uid: 999 }, "uid must be 0 or a user ID from 1000 to 256000"],
    [{ uid: 256_001 }, "uid must be"],
    [{ uid: 1500.5 }, "uid must be"],
    [{ mode: "subfunction" }, "mode must be primary with provider upstream"],
    [{ bpfMapPinning: true, uid: 1500 }, "bpfMapPinning must be false with uid 1500 and provider upstream"],
  ])("leaves out a pool with %j and says why", (pool, words) => {
    expect(messages(state(pool))).toEqual([expect.stringContaining(words)]);
    expect(render(state(pool)).config.pools).toEqual([]);
  });

  it.each<[string, AfxdpInterfaceStatus]>([
    ['accepts only letters, digits, "-" and "_" in the name "ens1f0.100"', { ...port, name: "ens1f0.100" }],
    ['whose names begin with "eno"', { ...port, name: "eno1" }],
    ['whose names begin with "eth"', { ...port, name: "eth1" }],
    ['whose names begin with "cni"', { ...port, name: "cnic0" }],
    ["offers physical devices only", { name: "veth10", linkAdminState: "up" }],
    ["has no name on the host that is known", { pciAddress }],
  ])("leaves out a device, and serves the rest of the pool: %s", (words, nic) => {
    const rest = { ...port, pciAddress: "0000:87:00.0", name: "ens2" };
    const rendered = render(state({}, [nic, rest]));
    expect(rendered.problems.map(({ message }) => message)).toEqual([expect.stringContaining(words)]);
    expect(rendered.config.pools.map(({ devices }) => devices)).toEqual([[{ name: "ens2" }]]);
  });

  it("keeps the last known name of a device that is in a pod", () => {
    const away = (nic: AfxdpInterfaceStatus, wanted: object = {}): State => {
      const { spec } = state({}, [nic]);
      return {
        spec: { ...spec, interfaces: (spec?.interfaces ?? []).map((one) => ({ ...one, ...wanted })) },
        status: { interfaces: [nic] },
      };
    };
    const names = (given: State, facts?: AfxdpPluginsSettings) =>
      render(given, facts).devices.map(({ name, isOnHost }) => [name, isOnHost]);
    const nic = { pciAddress, driver: "ice", owned: true };
    const knownNames = new Map([[pciAddress, "ens1f0"]]);
    expect(names(away(nic), { knownNames })).toEqual([["ens1f0", false]]);
    expect(names(away({ ...nic, recordedNames: ["ens9", "alt"] }))).toEqual([["ens9", false]]);
    expect(names(away(nic, { name: "ens7" }))).toEqual([["ens7", false]]);
    // A new name counts as soon as it is seen.
    expect(names(away({ ...nic, name: "new0", linkAdminState: "up" }), { knownNames })).toEqual([["new0", true]]);
    // Not on the PCI bus: the status keeps the name, and has nothing else of the link.
    expect(names(away({ name: "hv0", owned: true }))).toEqual([["hv0", false]]);
    // A report without the device removes nothing either.
    expect(names({ ...away(nic), status: { interfaces: [] } }, { knownNames })).toEqual([["ens1f0", false]]);
  });

  it("gives a device to one pool, and its variable to one of two pools whose names differ only in case", () => {
    const one = { pciAddress, mode: "primary", poolName: "a" } as const;
    const same = {
      pools: [
        { ...intel, name: "b" },
        { ...intel, name: "a" },
      ],
      interfaces: [{ ...one, poolName: "b" }, one],
    };
    const status = { interfaces: [port] };
    expect(messages({ spec: same, status })).toEqual([`device ${pciAddress}: a device ens1f0 is already in pool a`]);
    const pools = [intel, { ...intel, name: "INTEL" }];
    expect(render({ spec: { pools, interfaces: [] }, status }).problems).toEqual([
      {
        poolName: "intel",
        message: "pool INTEL has the same name in capital letters, which name the variable in pods",
      },
    ]);
  });

  it("offers nothing on a kernel on which the plugin ends, or to a pool that the kernel does not suit", () => {
    expect(messages(state(), { kernelRelease: "6.12.117+deb12-amd64" })).toEqual([
      expect.stringContaining('cannot read the kernel release "6.12.117+deb12-amd64"'),
    ]);
    const bpf = state({ requiresUnprivilegedBpf: true });
    expect(messages(bpf, { unprivilegedBpfDisabled: "2" })).toEqual([
      'requiresUnprivilegedBpf is true, but kernel.unprivileged_bpf_disabled of the node is "2": ' +
        "set it to 0, or requiresUnprivilegedBpf to false",
    ]);
    expect(messages(bpf)).toEqual([]); // not known
  });

  it("writes nothing that the plugin refuses", () => {
    expect(pluginRefusals(render(state({ uid: 256_000, udsTimeout: 300 })).config)).toEqual([]);
  });
});
