// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { networkRef, parseNetworkRef } from "./network-ref.ts";

const blue = { kind: "OVSNetwork", namespace: "tenant-a", name: "blue" } as const;
const ref = "OVSNetwork.sriovnetwork.openshift.io/tenant-a/blue";

describe("networkRef", () => {
  it("returns upstream's text, which parseNetworkRef reads back", () => {
    const { kind, namespace, name } = blue;
    const apiVersion = "sriovnetwork.openshift.io/v1";
    expect(networkRef({ apiVersion, kind, metadata: { namespace, name }, spec: { resourceName: "nics" } })).toBe(ref);
    expect(parseNetworkRef(ref)).toEqual(blue);
  });

  it.each([
    "",
    "OVSNetwork.sriovnetwork.openshift.io",
    "OVSNetwork.sriovnetwork.openshift.io/tenant-a",
    "OVSNetwork.sriovnetwork.openshift.io/tenant-a/",
    "OVSNetwork.sriovnetwork.openshift.io//blue",
    "OVSNetwork.sriovnetwork.openshift.io/tenant-a/blue/more",
    "OVSNetwork.example.com/tenant-a/blue",
    "OVSNetwork/tenant-a/blue",
    "Pod.sriovnetwork.openshift.io/tenant-a/blue",
    "toString.sriovnetwork.openshift.io/tenant-a/blue",
  ])("cannot be %j", (text) => {
    expect(parseNetworkRef(text)).toBeUndefined();
  });
});
