// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { draDriverName as driver } from "@switchyard/api";
import fc from "fast-check";
import { parseAllocatedClaim } from "./allocated-claim.ts";
import { parseVfConfig } from "./vf-config.ts";

const kind = { apiVersion: `${driver}/v1alpha1`, kind: "VfConfig" };
const scope = { driver, pool: "worker-1" };
const metadata = { namespace: "default", name: "nics", uid: "u1" };
const result = { driver, pool: "worker-1", request: "nic", device: "0000-3b-00-2" };

function claimWith(results: readonly object[], config: readonly object[] = []) {
  return { metadata, status: { allocation: { devices: { results, config } } } };
}

function opaque(fields: object, more: object = {}) {
  return { ...more, opaque: { driver, parameters: { ...kind, ...fields } } };
}

function configsOf(results: readonly object[], config: readonly object[]) {
  const parsed = parseAllocatedClaim(claimWith(results, config), scope);
  return parsed.ok ? parsed.value.devices.map((device) => device.config) : parsed.error;
}

describe("parseAllocatedClaim", () => {
  it("returns the devices of the driver with their requests, and no others", () => {
    const gpu = { driver: "gpu.example.com", pool: "worker-1", request: "gpu", device: "gpu-0" };
    const admin = { ...result, device: "0000-3b-00-3", adminAccess: true };
    const claim = claimWith([gpu, result, admin]);
    const annotations = { "resource.kubernetes.io/pod-claim-name": "net" };
    expect(parseAllocatedClaim({ ...claim, metadata: { ...metadata, annotations } }, scope)).toEqual({
      ok: true,
      value: {
        ...metadata,
        podClaimName: "net",
        devices: [
          { request: "nic", device: "0000-3b-00-2", isAdmin: false, config: {} },
          { request: "nic", device: "0000-3b-00-3", isAdmin: true, config: {} },
        ],
      },
    });
  });

  it("applies a configuration without requests to all devices", () => {
    const results = [result, { ...result, request: "other" }];
    expect(configsOf(results, [opaque({ driver: "vfio-pci" })])).toEqual([
      { driver: "vfio-pci" },
      { driver: "vfio-pci" },
    ]);
  });

  it("applies the configuration of a request to the subrequest that was chosen", () => {
    const results = [
      { ...result, request: "nic/fast" },
      { ...result, request: "nic-2" },
    ];
    const config = [
      opaque({ driver: "vfio-pci" }, { requests: ["nic"] }),
      opaque({ ifName: "net1" }, { requests: ["nic/fast"] }),
      opaque({ ifName: "net2" }, { requests: ["nic/slow"] }),
    ];
    expect(configsOf(results, config)).toEqual([{ driver: "vfio-pci", ifName: "net1" }, {}]);
  });

  it("lets the claim replace fields of its class, whatever their order, and ignores other drivers", () => {
    const config = [
      opaque({ ifName: "net1" }, { source: "FromClaim" }),
      opaque({ ifName: "eth0", addVhostMount: true }, { source: "FromClass" }),
      { opaque: { driver: "gpu.example.com", parameters: 1 } },
    ];
    expect(configsOf([result], config)).toEqual([{ ifName: "net1", addVhostMount: true }]);
  });

  it.each([
    { what: "no allocation", claim: { metadata }, error: "status.allocation is absent: the claim is not allocated" },
    {
      what: "a device of another node",
      claim: claimWith([{ ...result, pool: "worker-2" }]),
      error: 'status.allocation.devices.results[0].pool is not "worker-1"',
    },
    {
      what: "a request that is a path",
      claim: claimWith([{ ...result, request: "../../etc" }]),
      error: "status.allocation.devices.results[0].request is not the name of a request",
    },
    {
      what: "a configuration of another kind",
      claim: claimWith([result], [opaque({ kind: "GpuConfig" })]),
      error: 'status.allocation.devices.config[0].opaque.parameters.kind is "GpuConfig", and must be "VfConfig"',
    },
  ])("refuses $what", ({ claim, error }) => {
    expect(parseAllocatedClaim(claim, scope)).toEqual({ ok: false, error });
  });

  it("never throws, whatever the claim is", () => {
    fc.assert(
      fc.property(fc.anything(), fc.anything(), (results, config) => {
        parseAllocatedClaim({ metadata, status: { allocation: { devices: { results, config } } } }, scope);
        parseAllocatedClaim(results, scope);
        parseVfConfig(config, "parameters");
      }),
    );
  });
});

describe("parseVfConfig", () => {
  it("reads all fields", () => {
    const fields = {
      driver: "vfio-pci",
      netAttachDefName: "fast",
      netAttachDefNamespace: "nets",
      ifName: "net1",
      addVhostMount: true,
    };
    expect(parseVfConfig({ ...kind, ...fields }, "p")).toEqual({ ok: true, value: fields });
    expect(parseVfConfig({ ...kind, driver: "", ifName: null }, "p")).toEqual({ ok: true, value: {} });
  });

  it.each([
    {
      fields: { driver: "igb_uio" },
      error: 'p.driver is "igb_uio", and must be "vfio-pci", or "default" for the kernel\'s network driver',
    },
    { fields: { driver: "../vfio" }, error: expect.stringContaining("p.driver is") },
    { fields: { ifName: "a/b" }, error: 'p.ifName is "a/b", and must be the name of a network interface' },
    { fields: { netAttachDefName: "../x" }, error: 'p.netAttachDefName is "../x", and must be the name of an object' },
    { fields: { addVhostMount: "yes" }, error: 'p.addVhostMount is "yes", and must be true or false' },
    { fields: { vlan: 5 }, error: "p.vlan is not a field of VfConfig" },
    { fields: { apiVersion: "v1" }, error: `p.apiVersion is "v1", and must be "${driver}/v1alpha1"` },
  ])("refuses $fields", ({ fields, error }) => {
    expect(parseVfConfig({ ...kind, ...fields }, "p")).toEqual({ ok: false, error });
  });
});
