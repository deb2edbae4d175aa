// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import {
  managementPortCount,
  managementResource,
  offloadHostLabels,
  ovnHostLabels,
} from "./hardware-offload-config.ts";

const options = { prefix: "openshift.io", isWanted: true };
const key = "mgmt-port-resource-name";

describe("managementResource", () => {
  it("sets a name if nobody has", () => {
    expect(managementResource({}, options)).toEqual({
      resource: "ovn_mgmt_vf",
      patch: { [key]: "openshift.io/ovn_mgmt_vf" },
    });
  });

  it("uses the administrator's name", () => {
    expect(managementResource({ [key]: "openshift.io/mgmtvf" }, options)).toEqual({ resource: "mgmtvf", patch: {} });
  });

  it.each(["example.com/mgmtvf", "mgmtvf", "openshift.io/", "openshift.io/a/b", "", "openshift.io/a\nb"])(
    "refuses a name that the device plugin cannot offer: %j",
    (name) => {
      expect(managementResource({ [key]: name }, options)).toEqual({
        patch: {},
        problem: `${key} of ConfigMap hardware-offload-config is "${name}": expected openshift.io/ and a name of letters, digits, "-" and "_"`,
      });
    },
  );

  it("removes only the name that it has set", () => {
    const left = { ...options, isWanted: false };
    const own = { [key]: "openshift.io/ovn_mgmt_vf" };
    expect(managementResource(own, { ...left, isOwn: true }).patch).toEqual({ [key]: null });
    expect(managementResource(own, left).patch).toEqual({});
    expect(managementResource({ [key]: "openshift.io/mgmtvf" }, { ...left, isOwn: true }).patch).toEqual({});
  });
});

describe("managementPortCount", () => {
  it.each([
    { text: undefined, count: 1 },
    { text: "", count: 1 },
    { text: "8", count: 8 },
    { text: "127", count: 127 },
  ])("reads $text", ({ text, count }) => {
    expect(managementPortCount(text === undefined ? {} : { "mgmt-port-resource-count": text })).toEqual({ count });
  });

  it.each(["0", "-1", "128", "1.5", "8 ", "many"])("refuses %j", (text) => {
    expect(managementPortCount({ "mgmt-port-resource-count": text })).toEqual({
      count: 1,
      problem: `mgmt-port-resource-count of ConfigMap hardware-offload-config is "${text}": expected a number from 1 to 127`,
    });
  });
});

describe("offloadHostLabels", () => {
  it.each([
    { text: undefined, label: { key: "network.operator.openshift.io/dpu-host", value: undefined } },
    { text: "example.com/host=", label: { key: "example.com/host", value: undefined } },
    { text: "host=yes", label: { key: "host", value: "yes" } },
  ])("reads $text", ({ text, label }) => {
    const { dpuHost, problems } = offloadHostLabels(text === undefined ? {} : { "dpu-host-mode-label": text });
    expect({ dpuHost, problems }).toEqual({ dpuHost: label, problems: [] });
  });

  it.each(["example.com/host", "=", "a b=", "a=b c", "a=b=c", "/a=", `${"a".repeat(64)}=`])(
    "uses the default instead of %s, and says so",
    (text) => {
      const { dpuHost, problems } = offloadHostLabels({ "dpu-host-mode-label": text });
      expect(dpuHost.key).toBe("network.operator.openshift.io/dpu-host");
      expect(problems).toEqual([
        `dpu-host-mode-label of ConfigMap hardware-offload-config is "${text}": expected KEY= or KEY=VALUE; the default network.operator.openshift.io/dpu-host= is used`,
      ]);
    },
  );
});

describe("ovnHostLabels", () => {
  const openshift = offloadHostLabels({ "dpu-mode-label": "example.com/kind=dpu" });

  it("has the proposal's label and the network operator's", () => {
    expect(ovnHostLabels({}, openshift).labels).toEqual({
      "network.operator.openshift.io/dpu-host": "",
      "network.operator.openshift.io/ovn-offload-host": "",
    });
  });

  it("has OVN-Kubernetes' label in other clusters", () => {
    expect(ovnHostLabels({}).labels).toEqual({ "k8s.ovn.org/dpu-host": "" });
    expect(ovnHostLabels({ "k8s.ovn.org/dpu": "" })).toEqual({ labels: {}, conflict: "k8s.ovn.org/dpu" });
  });

  it("never has a second exclusive label", () => {
    expect(ovnHostLabels({ "network.operator.openshift.io/smart-nic": "" }, openshift)).toEqual({
      labels: {},
      conflict: "network.operator.openshift.io/smart-nic",
    });
    expect(ovnHostLabels({ "example.com/kind": "dpu" }, openshift).conflict).toBe("example.com/kind");
    expect(ovnHostLabels({ "example.com/kind": "server" }, openshift).conflict).toBeUndefined();
  });
});
