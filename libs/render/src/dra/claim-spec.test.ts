// SPDX-License-Identifier: Apache-2.0
import { parsePciAddress } from "@switchyard/api";
import { expect, it } from "@jest/globals";
import fc from "fast-check";
import { cdiDeviceOf, claimSpecFile, isClaimSpecFile, parseClaimSpec, renderClaimSpec } from "./claim-spec.ts";

const pci = (text: string) => {
  const parsed = parsePciAddress(text);
  if (!parsed.ok) throw new Error(text);
  return parsed.value;
};
const claim = {
  namespace: "default",
  name: "nics",
  uid: "0a1b-2c",
  devices: [
    { pciAddress: pci("0000:3b:00.2"), request: "nic/fast", isAdmin: false, driver: "vfio-pci" },
    { pciAddress: pci("0000:3b:00.3"), request: "watch", isAdmin: true },
  ],
};

it("renders what a container gets, and reads the record of the claim back", () => {
  const edits = [
    {
      env: ["PCIDEVICE_OPENSHIFT_IO_FAST=0000:3b:00.2"],
      deviceNodes: ["/dev/vfio/12"],
      mounts: [{ hostPath: "/a/metadata.json", containerPath: "/b" }],
    },
  ];
  const text = renderClaimSpec({ ...claim, edits });
  expect(JSON.parse(text)).toEqual({
    cdiVersion: "0.6.0",
    kind: "sriovnetwork.k8snetworkplumbingwg.io/vf-0a1b-2c",
    annotations: {
      "switchyard.io/namespace": "default",
      "switchyard.io/name": "nics",
      "switchyard.io/uid": "0a1b-2c",
    },
    devices: [
      {
        name: "0000:3b:00.2",
        annotations: { "switchyard.io/request": "nic/fast", "switchyard.io/driver": "vfio-pci" },
        containerEdits: {
          env: ["SRIOVNETWORK_VF_0000_3B_00_2=0000:3b:00.2", "PCIDEVICE_OPENSHIFT_IO_FAST=0000:3b:00.2"],
          deviceNodes: [{ path: "/dev/vfio/12" }],
          mounts: [{ hostPath: "/a/metadata.json", containerPath: "/b", options: ["ro", "bind"] }],
        },
      },
      {
        name: "admin-0000:3b:00.3",
        annotations: { "switchyard.io/request": "watch", "switchyard.io/admin-access": "true" },
        containerEdits: { env: ["SRIOVNETWORK_VF_0000_3B_00_3=0000:3b:00.3"] },
      },
    ],
  });
  expect(parseClaimSpec(text)).toEqual(claim);
  expect(cdiDeviceOf(claim.devices[0] ?? (claim.devices[1] as never), "u1").split("=")[1]).toBe("0000:3b:00.2");
});

it("takes no text but the uid of an object into the name of a file", () => {
  const file = claimSpecFile("0a1b-2c");
  expect(file).toBe("sriovnetwork.k8snetworkplumbingwg.io-vf_0a1b-2c.json");
  expect(isClaimSpecFile(file ?? "")).toBe(true);
  for (const uid of ["../etc", "", "a/b", "-a", "a".repeat(65)]) expect(claimSpecFile(uid)).toBeUndefined();
});

it("does not read what it did not write, and never throws", () => {
  const text = renderClaimSpec({ ...claim, edits: [] });
  expect(parseClaimSpec(text.replace('"0000:3b:00.2"', '"gpu-0"'))).toBeUndefined();
  expect(parseClaimSpec(text.slice(0, 80))).toBeUndefined();
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.json()), (any) => {
      expect(parseClaimSpec(any)).toBeUndefined();
    }),
  );
});
