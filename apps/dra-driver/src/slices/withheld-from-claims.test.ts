// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { draDriverName, err, ok, type SriovNetworkNodeState, type VfStatus } from "@switchyard/api";
import { withheldFromClaims, type KubeletDevices, type WithholdingInput } from "./withheld-from-claims.ts";

const pf = "0000:01:00.0";
const vf = "0000:01:10.0";
const dra = { wanted: "dra", offeredBy: "dra" } as const;
const leaving = { wanted: "devicePlugin", offeredBy: "dra" } as const;
const pod = { namespace: "default", name: "web-0", via: "device-plugin", resource: "openshift.io/fast" } as const;

function stateWith(fields: Partial<VfStatus> = {}): SriovNetworkNodeState {
  return {
    apiVersion: "sriovnetwork.openshift.io/v1",
    kind: "SriovNetworkNodeState",
    metadata: { name: "worker-1" },
    spec: { interfaces: [{ pciAddress: pf, numVfs: 1, vfGroups: [{ resourceName: "fast", vfRange: "0-0" }] }] },
    status: {
      bootID: "b1",
      interfaces: [
        {
          pciAddress: pf,
          owned: true,
          totalvfs: 7,
          numVfs: 1,
          linkType: "ETH",
          linkAdminState: "up",
          eSwitchMode: "legacy",
          Vfs: [{ pciAddress: vf, vfID: 0, driver: "igbvf", name: "v0", adminMac: "02:00:00:00:00:01", ...fields }],
        },
      ],
    },
  };
}

function kubelet(devices: Partial<KubeletDevices> = {}) {
  return ok({ holders: new Map(), offered: new Set<string>(), ...devices });
}

function reasonWith(input: Partial<WithholdingInput> = {}): string | undefined {
  const plain = { published: new Set<string>(), claimed: new Set<string>(), others: new Map() };
  return withheldFromClaims({
    ...{ state: stateWith(), allocation: dra, bootId: "b1", kubelet: kubelet() },
    ...plain,
    ...input,
  }).get(vf)?.reason;
}

describe("withheldFromClaims", () => {
  it.each([
    { what: "gives a VF that is ready", input: {}, reason: undefined },
    {
      what: "a pod has it from the device plugin",
      input: { kubelet: kubelet({ holders: new Map([[vf, [pod]]]) }) },
      reason: "held",
    },
    { what: "the device plugin offers it", input: { kubelet: kubelet({ offered: new Set([vf]) }) }, reason: "offered" },
    { what: "the kubelet does not answer", input: { kubelet: err("UNAVAILABLE") }, reason: "unknown-holder" },
    {
      what: "it is published, and the kubelet does not answer",
      input: { kubelet: err("x"), published: new Set([vf]) },
      reason: undefined,
    },
    { what: "another driver publishes it", input: { others: new Map([[vf, ["dra.net"]]]) }, reason: "published" },
    {
      what: "a past pod has left its settings",
      input: { state: stateWith({ unclean: { settings: [] } }) },
      reason: "unclean",
    },
    {
      what: "it has no interface",
      input: { state: stateWith({ missingInterface: "waiting" }) },
      reason: "no-interface",
    },
    {
      what: "the daemon will bind another driver",
      input: { state: stateWith({ driver: "vfio-pci" }) },
      reason: "changing",
    },
    { what: "the node has booted since", input: { bootId: "b2" }, reason: "not-configured" },
    {
      what: "the device plugin may still begin to offer it",
      input: { allocation: { wanted: "dra", offeredBy: "devicePlugin" } },
      reason: "offered",
    },
    {
      what: "the node leaves, and it is free",
      input: { allocation: leaving, published: new Set([vf]) },
      reason: "offered",
    },
    {
      what: "the node leaves, and a claim has it",
      input: { allocation: leaving, published: new Set([vf]), claimed: new Set([vf]) },
      reason: "moving",
    },
    {
      what: "a claim has it, and the daemon will bind another driver",
      input: { state: stateWith({ driver: "vfio-pci" }), published: new Set([vf]), claimed: new Set([vf]) },
      reason: undefined,
    },
    {
      what: "a pod has it by a claim of this driver",
      input: { kubelet: kubelet({ holders: new Map([[vf, [{ ...pod, resource: draDriverName }]]]) }) },
      reason: undefined,
    },
  ] as const)("$what: $reason", ({ input, reason }) => {
    expect(reasonWith(input as Partial<WithholdingInput>)).toBe(reason);
  });
});
