// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { customResources } from "@switchyard/api";
import { misspeltKind } from "./misspelt-kind.ts";

const group = "sriovnetwork.openshift.io";

describe("misspeltKind", () => {
  it.each([
    [`${group}/v1`, "SriovNetworkNodePolcy", /^kind: "SriovNetworkNodePolcy" .* SriovNetworkNodePolicy of .*\/v1\?$/],
    [`${group}/v1`, "sriovnetwork", /did you mean kind SriovNetwork of/],
    [
      `${group}/v1beta1`,
      "SriovNetwork",
      /^apiVersion: "sriovnetwork.openshift.io\/v1beta1" .* SriovNetwork of .*\/v1\?$/,
    ],
    [
      "srionetwork.openshift.io/v1",
      "SriovNetwork",
      /did you mean kind SriovNetwork of sriovnetwork\.openshift\.io\/v1\?$/,
    ],
    ["sriovnetworks.openshift.io/v1", "SriovNetworkNodePolicys", /did you mean kind SriovNetworkNodePolicy of/],
    ["afxdp.example.com/v1", "AfxdpNetwork", /did you mean kind AfxdpNetwork of afxdpnetwork\.hns\.dev\/v1alpha1\?$/],
    ["v1", "SriovNetwork", /^apiVersion: "v1" does not exist: did you mean kind SriovNetwork/],
    [`${group}/v1`, "Gadget", /^kind: group sriovnetwork\.openshift\.io has no kind "Gadget"$/],
  ])("explains %s %s", (apiVersion, kind, text) => {
    expect(misspeltKind({ apiVersion, kind })).toMatch(text);
  });

  it.each([
    ["v1", "ConfigMap"],
    ["apps/v1", "Deployment"],
    ["k8s.cni.cncf.io/v1", "NetworkAttachmentDefinition"],
    ["networking.k8s.io/v1", "NetworkPolicy"],
    ["example.com/v1", "BridgeNetwork"],
    ["operator.openshift.io/v1", "DNS"],
    ["config.openshift.io/v1", "Network"],
  ])("says nothing about %s %s", (apiVersion, kind) => {
    expect(misspeltKind({ apiVersion, kind })).toBeUndefined();
  });

  it("says nothing about Switchyard's kinds", () => {
    for (const { group: own, version, kind } of customResources)
      expect(misspeltKind({ apiVersion: `${own}/${version}`, kind })).toBeUndefined();
  });
});
