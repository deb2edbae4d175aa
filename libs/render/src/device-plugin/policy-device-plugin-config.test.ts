// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import type { InterfaceStatus, NicSelector, SriovNetworkNodePolicy } from "@switchyard/api";
import { formatDevicePluginConfig } from "./device-plugin-config.ts";
import { policyDevicePluginConfig, type PolicyDevicePluginSources } from "./policy-device-plugin-config.ts";

type Spec = Partial<SriovNetworkNodePolicy["spec"]>;

function policy(name: string, nicSelector: NicSelector, spec: Spec = {}): SriovNetworkNodePolicy {
  return {
    apiVersion: "sriovnetwork.openshift.io/v1",
    kind: "SriovNetworkNodePolicy",
    metadata: { name },
    spec: { resourceName: "a", nodeSelector: {}, numVfs: 4, nicSelector, ...spec },
  };
}

const nics = [
  { vendor: "15b3", pfDevice: "101d", vfDevice: "101e" },
  { vendor: "8086", pfDevice: "158b", vfDevice: "154c" },
  { vendor: "ffff", pfDevice: "158b", vfDevice: "ffff" },
];
const interfaces: readonly InterfaceStatus[] = [
  { pciAddress: "0000:3b:00.0", name: "ens1f0", altNames: ["a0", "enp59s0f0"] },
  { pciAddress: "0000:3b:00.1", name: "ens1f1", altNames: ["a1"], netFilter: "openstack/NetworkID:net-1" },
  { pciAddress: "0000:86:00.0", name: "ens2", netFilter: "openstack/NetworkID:net-1" },
];

function render(policies: readonly SriovNetworkNodePolicy[], more: Partial<PolicyDevicePluginSources> = {}) {
  const { config, problems } = policyDevicePluginConfig({ policies, interfaces, nics, ...more });
  return { text: formatDevicePluginConfig(config), codes: problems.map(({ code }) => code) };
}

/** Returns upstream's text for a configuration with one resource. */
function resource(text: string, name = "a"): string {
  return `{"resourceList":[{"resourceName":"${name}",${text},"SelectorObj":null}]}`;
}

const flags = '"IsRdma":false,"NeedVhostNet":false';

describe("policyDevicePluginConfig", () => {
  it("is null without policies", () => {
    expect(render([])).toEqual({ text: '{"resourceList":null}', codes: [] });
  });

  it("returns the same bytes as upstream", () => {
    const selector = { vendor: "15b3", deviceID: "101d", pfNames: ["a0#0-3"] };
    const spec = { resourceName: "rdma_a", linkType: "eth", isRdma: true } as const;
    expect(render([policy("p", selector, spec)]).text).toBe(
      '{"resourceList":[{"resourceName":"rdma_a","selectors":{"vendors":["15b3"],"devices":["101e"],' +
        '"pfNames":["ens1f0#0-3"],"linkTypes":["ether"],"IsRdma":true,"NeedVhostNet":false},"SelectorObj":null}]}',
    );
    expect(render([policy("p", { pfNames: ["ens1#0-3"] }, { excludeTopology: true })]).text).toBe(
      resource(`"excludeTopology":true,"selectors":{"pfNames":["ens1#0-3"],${flags}}`),
    );
  });

  it("has all keys in upstream's order", () => {
    const selector = {
      netFilter: "openstack/NetworkID: net-1",
      rootDevices: ["0000:3b:00.0"],
      pfNames: ["ens1f0"],
      deviceID: "158b",
      vendor: "8086",
    };
    const spec = { vdpaType: "vhost", needVhostNet: true, linkType: "IB", excludeTopology: true } as const;
    expect(render([policy("p", selector, spec)]).text).toBe(
      resource(
        '"excludeTopology":true,"selectors":{"vendors":["8086"],"devices":["154c"],' +
          '"pciAddresses":["0000:3b:00.1","0000:86:00.0"],"pfNames":["ens1f0"],"rootDevices":["0000:3b:00.0"],' +
          '"linkTypes":["infiniband"],"IsRdma":false,"NeedVhostNet":true,"vdpaType":"vhost"}',
      ),
    );
  });

  it.each([
    { does: "the VF's device ID", deviceID: "158b", numVfs: 4, devices: '"devices":["154c"],' },
    { does: "the PF's device ID if numVfs is 0", deviceID: "158b", numVfs: 0, devices: '"devices":["158b"],' },
    { does: "no device ID for a card that is not in the list", deviceID: "1234", numVfs: 4, devices: "" },
  ])("selects by $does", ({ deviceID, numVfs, devices }) => {
    const { text } = render([policy("p", { vendor: "8086", deviceID }, { numVfs })]);
    expect(text).toBe(resource(`"selectors":{"vendors":["8086"],${devices}${flags}}`));
  });

  it.each([
    { does: "keeps real names", pfNames: ["ens1f0", "ens1f1"], resolved: ["ens1f0", "ens1f1"] },
    { does: "replaces alternative names", pfNames: ["a0", "a1"], resolved: ["ens1f0", "ens1f1"] },
    { does: "keeps ranges", pfNames: ["enp59s0f0#2-5"], resolved: ["ens1f0#2-5"] },
    { does: "removes duplicate names of a PF", pfNames: ["a0", "ens1f0", "enp59s0f0"], resolved: ["ens1f0"] },
    { does: "keeps different ranges apart", pfNames: ["a0#0-1", "ens1f0#2-3"], resolved: ["ens1f0#0-1", "ens1f0#2-3"] },
    { does: "keeps unknown names", pfNames: ["eth9#0-1"], resolved: ["eth9#0-1"] },
  ])("$does in pfNames", ({ pfNames, resolved }) => {
    expect(render([policy("p", { pfNames })]).text).toBe(
      resource(`"selectors":{"pfNames":${JSON.stringify(resolved)},${flags}}`),
    );
  });

  it("omits a link type that the plugin does not know", () => {
    const { text } = render([policy("p", { vendor: "8086" }, { linkType: "eth", deviceType: "vfio-pci" })]);
    expect(text).toBe(resource(`"selectors":{"vendors":["8086"],${flags}}`));
  });

  it("joins policies for one resource, with the first one's flags and the last one's topology", () => {
    const weak = policy("weak", { vendor: "15b3", pfNames: ["ens1f0#0-1"] }, { isRdma: true, excludeTopology: true });
    const strong = policy("strong", { vendor: "8086", pfNames: ["a0#0-1", "ens2"] }, { vdpaType: "vhost" });
    expect(render([weak, strong])).toEqual({
      text: resource(
        '"selectors":{"vendors":["15b3","8086"],"pfNames":["ens1f0#0-1","ens2"],"IsRdma":true,"NeedVhostNet":false}',
      ),
      codes: [],
    });
  });

  it("keeps resources in the order of their first policies", () => {
    const policies = ["b", "a", "b"].map((resourceName) => policy("p", { vendor: "8086" }, { resourceName }));
    const { config } = policyDevicePluginConfig({ policies, interfaces, nics });
    expect(config.resourceList?.map(({ resourceName }) => resourceName)).toEqual(["b", "a"]);
  });

  it("reports policies for one resource that select by different fields, which the plugin combines with AND (sriov-operator.md M-43)", () => {
    const policies = [policy("p", { pfNames: ["ens1f0"] }), policy("q", { rootDevices: ["0000:86:00.0"] })];
    expect(render(policies)).toEqual({
      text: resource(`"selectors":{"pfNames":["ens1f0"],"rootDevices":["0000:86:00.0"],${flags}}`),
      codes: ["mixed-selectors"],
    });
  });

  it("omits a policy with a netFilter before NICs are known, because a selector without addresses selects all devices (sriov-operator.md M-7)", () => {
    const policies = [
      policy("p", { netFilter: "aws/NetworkID:a" }),
      policy("q", { vendor: "8086" }, { resourceName: "b" }),
    ];
    expect(render(policies, { interfaces: [] })).toEqual({
      text: resource(`"selectors":{"vendors":["8086"],${flags}}`, "b"),
      codes: ["no-interfaces"],
    });
  });

  it("omits and reports settings with which the plugin would exit: invalid names and RDMA with vDPA", () => {
    const policies = [
      policy("p", { vendor: "8086" }, { isRdma: true, vdpaType: "vhost" }),
      policy("q", { vendor: "8086" }, { resourceName: "a/b" }),
      policy("r", { vendor: "8086" }, { resourceName: "" }),
    ];
    expect(render(policies)).toEqual({
      text: resource(`"selectors":{"vendors":["8086"],${flags},"vdpaType":"vhost"}`),
      codes: ["bad-name", "rdma-with-vdpa"],
    });
  });
});
