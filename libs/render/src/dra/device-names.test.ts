// SPDX-License-Identifier: Apache-2.0
import { expect, it } from "@jest/globals";
import { addressOfDevice, deviceNameOf, renderDeviceClasses } from "./device-names.ts";

it("names a VF after its address, and finds the address again", () => {
  expect(deviceNameOf("0000:3B:00.2")).toBe("0000-3b-00-2");
  expect(addressOfDevice("0000-3b-00-2")).toBe("0000:3b:00.2");
  expect(deviceNameOf("0000:3b:00.9")).toBeUndefined();
  expect(addressOfDevice("gpu-0")).toBeUndefined();
});

it("renders the classes of dra-driver-sriov and of the Go operator, each with a name of its own", () => {
  const classes = renderDeviceClasses({
    prefix: "openshift.io",
    resourceNames: ["intel_NIC", "intel-nic", "-bad", "intel_NIC"],
  });
  expect(classes.map(({ metadata, spec }) => [metadata.name, spec.extendedResourceName])).toEqual([
    ["sriovnetwork.k8snetworkplumbingwg.io", undefined],
    ["intel-nic", "openshift.io/intel-nic"],
    [expect.stringMatching(/^intel-nic-[0-9a-f]{8}$/), "openshift.io/intel_NIC"],
  ]);
  expect(classes[1]?.spec.selectors).toEqual([
    {
      cel: {
        expression:
          'device.driver == "sriovnetwork.k8snetworkplumbingwg.io" && ' +
          'device.attributes["k8s.cni.cncf.io"].resourceName == "openshift.io/intel-nic"',
      },
    },
  ]);
});
