// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import fc from "fast-check";
import { parseCniChain, pluginInput } from "./cni-chain.ts";
import { networkDataOf } from "./network-data.ts";
import { parseSandbox } from "./parse-sandbox.ts";

const pciAddress = "0000:3b:02.0";

function inputs(config: object, previous?: object): readonly unknown[] | string {
  const chain = parseCniChain(JSON.stringify(config), "fast");
  if (!chain.ok) return chain.error;
  return chain.value.plugins.map((_, index) => {
    const options = { pciAddress, ...(previous !== undefined && { previous: { ...previous } }) };
    return JSON.parse(pluginInput(chain.value, index, options)) as unknown;
  });
}

describe("parseCniChain", () => {
  const device = { deviceID: pciAddress, pciBusID: pciAddress };

  it("gives the VF to the first plugin, and name, version and result to each", () => {
    const config = { cniVersion: "1.0.0", name: "net", plugins: [{ type: "sriov", vlan: 5 }, { type: "tuning" }] };
    const base = { cniVersion: "1.0.0", name: "net", prevResult: { dns: {} } };
    expect(inputs(config, { dns: {} })).toEqual([
      { ...base, ...device, type: "sriov", vlan: 5 },
      { ...base, type: "tuning" },
    ]);
  });

  it("takes a configuration of one plugin, and the name of the network if it has none", () => {
    expect(inputs({ type: "host-device" })).toEqual([
      { type: "host-device", name: "fast", cniVersion: "0.3.1", ...device },
    ]);
  });

  it("lets no configuration choose another VF", () => {
    expect(inputs({ type: "sriov", deviceID: "0000:00:00.0" })).toMatchObject([device]);
  });

  it.each([
    { config: { type: "../../bin/sh" }, error: "has a plugin 0 whose type is not the name of a program" },
    { config: { type: ".." }, error: "has a plugin 0 whose type is not the name of a program" },
    { config: { plugins: [{ type: "sriov" }, { type: "a b" }] }, error: /plugin 1 whose type/ },
    { config: { plugins: [] }, error: "has no plugins" },
    { config: { plugins: Array.from({ length: 17 }, () => ({ type: "a" })) }, error: "has more than 16 plugins" },
    { config: { plugins: ["sriov"] }, error: "has a plugin 0 that is not an object" },
    { config: { type: "sriov", name: "a/b" }, error: "has a name that is not the name of a network" },
    { config: { type: "sriov", cniVersion: 1 }, error: "has a cniVersion that is not a version" },
    { config: [], error: "is not a JSON object" },
  ])("refuses $config", ({ config, error }) => {
    expect(inputs(config)).toEqual(typeof error === "string" ? error : expect.stringMatching(error));
  });

  it("never throws, and names only programs without a path", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), fc.string(), (text, type) => {
        for (const config of [text, JSON.stringify({ type })]) {
          const chain = parseCniChain(config, "fast");
          if (chain.ok) for (const plugin of chain.value.plugins) expect(plugin.type).toMatch(/^[A-Za-z0-9][\w.-]*$/);
        }
      }),
    );
  });
});

describe("a configuration with 6,000 levels", () => {
  it("is refused, because it could not be passed to the plugin", () => {
    const deep = `{"type":"sriov","x":${"[".repeat(6_000)}${"]".repeat(6_000)}}`;
    expect(parseCniChain(deep, "fast")).toEqual({ ok: false, error: "is not a JSON object" });
  });
});

describe("networkDataOf", () => {
  it("returns the interface in the pod with its addresses, and leaves out what the API server would refuse", () => {
    const result = {
      interfaces: [
        { name: "br0", mac: "02:00:00:00:00:01" },
        { name: "net1", mac: "02:00:00:00:00:02", sandbox: "/run/netns/a" },
      ],
      ips: [{ address: "10.0.0.7/24" }, { address: "fd00::7/64" }, { address: "10.0.0.7" }, { address: 5 }, {}],
    };
    expect(networkDataOf(result, "net1")).toEqual({
      interfaceName: "net1",
      hardwareAddress: "02:00:00:00:00:02",
      ips: ["10.0.0.7/24", "fd00::7/64"],
    });
    expect(networkDataOf({ ips: "none" }, "net1")).toEqual({ interfaceName: "net1", ips: [] });
  });
});

describe("parseSandbox", () => {
  const pod = { id: "0af1", name: "web-0", uid: "1b2c-3d", namespace: "apps", annotations: new Map<string, string>() };

  it.each([
    { path: "/var/run/netns/cni-1", known: "/run/netns/cni-1" },
    { path: "/run/netns/cni-1", known: "/run/netns/cni-1" },
    { path: "/proc/4711/ns/net", known: "/proc/4711/ns/net" },
    { path: "/run/netns/../../etc/shadow", known: undefined },
    { path: "/run/netns/..", known: undefined },
    { path: "/proc/self/ns/net", known: undefined },
    { path: "relative", known: undefined },
  ])("takes the network namespace at $path as $known", ({ path, known }) => {
    const sandbox = parseSandbox({ ...pod, networkNamespace: path });
    expect(sandbox.ok ? sandbox.value.networkNamespace : undefined).toBe(known);
  });

  it.each([
    { what: "an id that is a path", change: { id: "../x" } },
    { what: "a name that adds an argument", change: { name: "a;K8S_POD_NAMESPACE=kube-system" } },
    { what: "a uid that is empty", change: { uid: "" } },
  ])("refuses $what", ({ change }) => {
    expect(parseSandbox({ ...pod, ...change }).ok).toBe(false);
  });
});
