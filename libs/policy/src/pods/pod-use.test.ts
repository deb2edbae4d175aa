// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { indexSlices, readAllocation, readSlice } from "./allocated-devices.ts";
import { createDeviceLookup } from "./device-lookup.ts";
import { toPfAddresses } from "./pf-addresses.ts";
import { podUse, usesAny } from "./pod-use.ts";

const pf = "0000:3b:00.0";
const nics = "nics.example.com";
const gpus = "gpus.example.com";
const pfs = toPfAddresses([
  { pciAddress: pf, Vfs: [{ pciAddress: "0000:3b:02.0", vfID: 0 }] },
  { pciAddress: "0000:5e:00.0" },
]);

/** Returns a parsed ResourceSlice. */
function slice(driver: string, devices: Readonly<Record<string, object>>) {
  const rows = Object.entries(devices).map(([name, attributes]) => ({ name, attributes }));
  const found = readSlice({ spec: { driver, nodeName: "w1", pool: { name: "w1" }, devices: rows } });
  if (found === undefined) throw new Error("no slice");
  return found;
}

const slices = [
  slice(nics, {
    "vf-0": { "resource.kubernetes.io/pciBusID": { string: "0000:3b:02.0" }, vfID: { int: 0 } },
    "vf-new": { pciAddress: { string: "0000:3b:02.7" } },
    "vf-of-pf": { pciAddress: { string: "0000:3b:02.6" }, "nics.example.com/pfPciAddress": { string: pf } },
    port: { "dra.net/pciAddress": { string: "0000:5E:00.0" } },
    several: { addresses: { strings: ["0000:01:00.0", pf] } },
    bridge: { kind: { string: "bridge" } },
  }),
  slice(gpus, { "gpu-0": { "resource.kubernetes.io/pciBusID": { string: "0000:99:00.0" }, v: { version: "1.0.0" } } }),
];

/** Returns what a pod uses whose only claim has these devices. */
function useOf(driver: string, devices: readonly string[], options: { readonly node?: string } = {}) {
  const results = devices.map((device) => ({ request: "a", driver, pool: "w1", device }));
  const claim = { status: { allocation: { devices: { results } } } };
  const factsFor = createDeviceLookup({
    slices,
    devicesOf: (namespace, name) => (`${namespace}/${name}` === "apps/claim" ? readAllocation(claim) : undefined),
    pfsOf: (node) => (node === "w1" ? pfs : []),
  });
  const { node = "w1" } = options;
  return podUse({ resources: [], claims: ["claim"] }, factsFor({ node, namespace: "apps" }));
}

describe("podUse", () => {
  it.each([
    { device: "vf-0", what: "a VF by the well-known attribute", use: [pf] },
    { device: "vf-of-pf", what: "an unknown VF by the address of its PF", use: [pf] },
    { device: "port", what: "a PF itself", use: ["0000:5e:00.0"] },
    { device: "several", what: "an address in a list", use: [pf] },
    { device: "bridge", what: "no PF for a device that is not a PCI device", use: [] },
  ])("finds $what", ({ device, use }) => {
    expect(useOf(nics, [device])).toEqual({ resources: [], pfs: use, isUncertain: false });
  });

  it("returns the PFs of all devices, each once", () => {
    expect(useOf(nics, ["port", "vf-0", "several"]).pfs).toEqual([pf, "0000:5e:00.0"]);
  });

  it("is uncertain about a device that no slice contains if its driver publishes NICs", () => {
    expect(useOf(nics, ["vf-0", "unknown"])).toEqual({ resources: [], pfs: [pf], isUncertain: true });
    expect(useOf(nics, ["vf-new"]).isUncertain).toBe(true);
  });

  it("recognizes a driver of NICs by the slices of other nodes", () => {
    expect(useOf(nics, ["unknown"], { node: "w2" })).toEqual({ resources: [], pfs: [], isUncertain: true });
  });

  it("is certain that devices of other drivers are not VFs", () => {
    expect(useOf(gpus, ["gpu-0", "unknown"])).toEqual({ resources: [], pfs: [], isUncertain: false });
  });

  it("is uncertain about a claim that does not exist, and certain about one that is not allocated", () => {
    const facts = { pfs, addressesOf: () => undefined, isNicDriver: () => true };
    const pod = { resources: ["fast"], claims: ["claim"] };
    const nothing = { resources: ["fast"], pfs: [] };
    expect(podUse(pod, { ...facts, devicesOf: () => undefined })).toEqual({ ...nothing, isUncertain: true });
    expect(podUse(pod, { ...facts, devicesOf: () => readAllocation({ status: {} }) })).toEqual({
      ...nothing,
      isUncertain: false,
    });
  });
});

describe("usesAny", () => {
  const none = { resources: [], pfs: [], isUncertain: false };
  it("is true for resources, relevant PFs and uncertain uses", () => {
    const isRelevant = (address: string) => address === pf;
    const uses = [none, { ...none, resources: ["fast"] }, { ...none, pfs: ["0000:5e:00.0"] }];
    const more = [
      { ...none, pfs: ["0000:5e:00.0", pf] },
      { ...none, isUncertain: true },
    ];
    expect([...uses, ...more].map((use) => usesAny(use, isRelevant))).toEqual([false, true, false, true, true]);
  });
});

describe("readAllocation, readSlice and indexSlices", () => {
  it.each([undefined, null, 1, {}, { status: { allocation: { devices: { results: [null, { driver: 1 }] } } } }])(
    "return nothing for malformed objects: %j",
    (value) => {
      expect([readAllocation(value), readSlice(value)]).toEqual([[], undefined]);
    },
  );

  it("return the addresses of all generations of a pool", () => {
    const old = slice(nics, { "vf-0": { a: { string: "0000:3b:02.0" } } });
    const next = slice(nics, { "vf-0": { a: { string: "0000:3b:02.1" } } });
    expect(indexSlices([old, next]).addressesOf({ driver: nics, pool: "w1", device: "vf-0" })).toEqual([
      "0000:3b:02.0",
      "0000:3b:02.1",
    ]);
  });
});
