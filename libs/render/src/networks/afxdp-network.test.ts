// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import type { AfxdpInterfaceSpec, AfxdpNetwork, AfxdpNetworkSpec } from "@switchyard/api";
import { poolDevicesOf } from "./node-devices.ts";
import { renderNetwork, type NetworkContext } from "./render-network.ts";

const ipam = '{"type": "host-local", "subnet": "10.56.217.0/24"}';

function network(spec: Partial<AfxdpNetworkSpec> = {}): AfxdpNetwork {
  return {
    apiVersion: "afxdpnetwork.hns.dev/v1alpha1",
    kind: "AfxdpNetwork",
    metadata: { name: "fast", namespace: "tenant-a", uid: "u1" },
    spec: { poolName: "intelnics", ...spec },
  };
}

function render(spec: Partial<AfxdpNetworkSpec>, more: Partial<NetworkContext> = {}) {
  return renderNetwork(network(spec), { resourcePrefix: "openshift.io", ...more });
}

function configOf(spec: Partial<AfxdpNetworkSpec>, more: Partial<NetworkContext> = {}): unknown {
  const rendered = render(spec, more);
  return rendered.ok ? JSON.parse(rendered.value.spec.config) : rendered.error;
}

const head = { cniVersion: "1.0.0", name: "fast" };

describe("the NetworkAttachmentDefinition of an AfxdpNetwork", () => {
  it("names the resource of the pool, whatever the prefix of other resources, and its network", () => {
    expect(render({})).toMatchObject({
      value: {
        metadata: {
          name: "fast",
          namespace: "tenant-a",
          annotations: {
            "k8s.v1.cni.cncf.io/resourceName": "afxdp/intelnics",
            "sriovnetwork.openshift.io/owner-ref": "AfxdpNetwork.afxdpnetwork.hns.dev/tenant-a/fast",
          },
          ownerReferences: [
            { apiVersion: "afxdpnetwork.hns.dev/v1alpha1", kind: "AfxdpNetwork", name: "fast", uid: "u1" },
          ],
        },
      },
    });
  });

  it("has the plugin host-device, which gets the id of the device, unless the config says otherwise", () => {
    expect(configOf({})).toEqual({ ...head, type: "host-device", capabilities: { deviceID: true }, ipam: {} });
    expect(configOf({ ipam, capabilities: '{"ips": true}' })).toEqual({
      ...head,
      type: "host-device",
      capabilities: { ips: true, deviceID: true },
      ipam: { type: "host-local", subnet: "10.56.217.0/24" },
    });
  });

  it("names the device if the devices of the pool have one name and no id", () => {
    const ofName = { afxdpDevices: { names: ["eth1"], hasIds: false } };
    expect(configOf({}, ofName)).toEqual({ ...head, type: "host-device", device: "eth1", ipam: {} });
    expect(configOf({}, { ...ofName, afxdpProvider: "upstream" })).toMatchObject({ type: "afxdp" });
    const both = { afxdpDevices: { names: ["eth1", "eth2"], hasIds: true } };
    expect(configOf({}, both)).toMatchObject({ capabilities: { deviceID: true } });
    expect(configOf({}, { afxdpDevices: { names: ["eth1", "eth2"], hasIds: false } })).toMatchObject([
      {
        field: "spec.poolName",
        message: expect.stringContaining("pool intelnics has eth1, eth2: give each") as unknown,
      },
    ]);
  });

  it("has meta plugins in a list", () => {
    const plugins = [{ type: "host-device", capabilities: { deviceID: true }, ipam: {} }, { type: "tuning" }];
    expect(configOf({ metaPlugins: '{"type": "tuning"}' })).toEqual({ ...head, plugins });
  });

  it.each([
    { spec: {}, own: { mode: "primary" } },
    { spec: { ethtoolCmds: ["-X -device- equal 5"], ipam }, own: { ethtoolCmds: ["-X -device- equal 5"] } },
  ] as const)("has upstream's plugin if the config says so: $spec", ({ spec, own }) => {
    const config = configOf(spec, { afxdpProvider: "upstream" });
    expect(config).toMatchObject({ ...head, type: "afxdp", dpSyncer: true, ...own });
  });

  it.each([
    { spec: { ipam: '{"type": }' }, field: "spec.ipam", words: "line 1, column 10" },
    { spec: { ethtoolCmds: ["-X"] }, field: "spec.ethtoolCmds", words: "only provider upstream does" },
    { spec: { ethtoolCmds: ["-X"] }, provider: "upstream", field: "spec.ethtoolCmds", words: "requires spec.ipam" },
    { spec: { mode: "subfunction" }, provider: "upstream", field: "spec.mode", words: "offers no subfunctions" },
  ] as const)("is not rendered with $spec", ({ spec, provider, field, words }: Refused) => {
    expect(configOf(spec, provider && { afxdpProvider: provider })).toMatchObject([
      { field, message: expect.stringContaining(words) as unknown },
    ]);
  });
});

describe("poolDevicesOf", () => {
  it("names the devices of the pool that are not on the PCI bus", () => {
    const [mode, fast, other] = ["primary", { poolName: "fast" }, { poolName: "other" }] as const;
    const state = (...interfaces: readonly AfxdpInterfaceSpec[]) => ({ spec: { interfaces } });
    const veth = { ...fast, mode, name: "v1" };
    const pci = { ...fast, mode, pciAddress: "0000:86:00.0", name: "ens1f0" };
    expect(poolDevicesOf("fast", [state(veth), state(veth, { ...veth, ...other, name: "v2" }), {}])).toEqual({
      names: ["v1"],
      hasIds: false,
    });
    expect(poolDevicesOf("fast", [state(pci), state({ ...veth, name: "../v" })])).toEqual({ names: [], hasIds: true });
  });

  it.each([
    { what: "another kind of device", lie: { pciAddress: "0000:01:00.0" } },
    { what: "another name", lie: { name: "eth9" } },
    { what: "both", lie: { name: "eth9", pciAddress: "0000:01:00.0" } },
  ])("does not change because one node of three or more reports $what", ({ lie }) => {
    const honest = { poolName: "fast", mode: "primary", name: "eth1" } as const;
    const states = (count: number) => Array.from({ length: count }, () => ({ spec: { interfaces: [honest] } }));
    for (const count of [2, 49]) {
      const liar = { spec: { interfaces: [{ ...honest, ...lie }] } };
      expect(poolDevicesOf("fast", [liar, ...states(count)])).toEqual({ names: ["eth1"], hasIds: false });
    }
    const pci = { ...honest, pciAddress: "0000:86:00.0" };
    const nameless = [pci, pci, honest].map((device) => ({ spec: { interfaces: [device] } }));
    expect(poolDevicesOf("fast", nameless).hasIds).toBe(true);
  });
});

interface Refused {
  readonly spec: Partial<AfxdpNetworkSpec>;
  readonly provider?: "upstream";
  readonly field: string;
  readonly words: string;
}
