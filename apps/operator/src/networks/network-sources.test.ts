// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { configOf, createNetworkCluster, operatorNamespace } from "./testing/network-cluster.ts";

const group = "sriovnetwork.openshift.io";

describe("a BridgeNetwork without a bridge", () => {
  const blue = { bridges: { linux: [{ name: "br-blue", uplinks: [{ pciAddress: "0000:3b:00.0" }] }] } };
  const nic = (resourceName: string) => ({
    pciAddress: "0000:3b:00.0",
    vfGroups: [{ resourceName, deviceType: "netdevice", vfRange: "0-1", policyName: "p" }] as const,
  });

  it("gets the bridges that policies create for its resource, and follows changes", async () => {
    const cluster = createNetworkCluster();
    cluster.addNetwork("BridgeNetwork", "blue");
    await cluster.settle();
    expect(cluster.ready("BridgeNetwork", "blue")).toContain("Invalid: spec.bridge: is required");
    cluster.setState("worker-1", { ...blue, interfaces: [nic("nics")] });
    await cluster.settle();
    expect(configOf(cluster.nad(`${operatorNamespace}/blue`))["bridge"]).toBe("br-blue,br-blue");
    cluster.setState("worker-2", {
      interfaces: [nic("nics")],
      bridges: { linux: [{ name: "br-red", uplinks: [{ pciAddress: "0000:3b:00.0" }] }] },
    });
    await cluster.settle();
    expect(configOf(cluster.nad(`${operatorNamespace}/blue`))["bridge"]).toBe("br-blue,br-red");
  });

  it("with a vlan is not ready while a bridge does not filter by VLAN, and becomes ready when the policy is corrected", async () => {
    const cluster = createNetworkCluster();
    cluster.addNetwork("BridgeNetwork", "blue", { vlan: 100 });
    cluster.addNetwork("BridgeNetwork", "named", { vlan: 100, bridge: "br-blue" });
    cluster.addNetwork("BridgeNetwork", "untagged");
    cluster.setState("worker-1", { ...blue, interfaces: [nic("nics")] });
    await cluster.settle();
    for (const name of ["blue", "named"]) {
      expect(cluster.ready("BridgeNetwork", name)).toContain(
        "Invalid: spec.vlan: needs a bridge that filters by VLAN, but the Linux bridge br-blue does not",
      );
      expect(cluster.nad(`${operatorNamespace}/${name}`)).toBeUndefined();
    }
    expect(cluster.ready("BridgeNetwork", "untagged")).toContain("NetworkAttachmentDefinition is provisioned");
    const filtering = blue.bridges.linux.map((bridge) => ({ ...bridge, bridge: { vlanFiltering: true } }));
    cluster.setState("worker-1", { bridges: { linux: filtering }, interfaces: [nic("nics")] });
    await cluster.settle();
    for (const name of ["blue", "named"]) {
      expect(cluster.ready("BridgeNetwork", name)).toContain("NetworkAttachmentDefinition is provisioned");
      expect(configOf(cluster.nad(`${operatorNamespace}/${name}`))["vlan"]).toBe(100);
    }
  });

  it("is not enqueued by nodes whose bridges for its resource do not change", async () => {
    const cluster = createNetworkCluster();
    cluster.addNetwork("BridgeNetwork", "blue");
    cluster.addNetwork("BridgeNetwork", "named", { bridge: "br0" });
    cluster.setState("worker-1", { ...blue, interfaces: [nic("nics")] });
    await cluster.settle();
    cluster.setState("worker-1", { ...blue, interfaces: [{ ...nic("nics"), mtu: 9000 }] });
    cluster.setState("worker-2", { ...blue, interfaces: [nic("others")] });
    expect(cluster.woken()).toEqual([]);
    cluster.setState("worker-1", { ...blue, interfaces: [nic("others")] });
    expect(cluster.woken()).toEqual([`BridgeNetwork.${group}/${operatorNamespace}/blue`]);
  });

  it("enqueues the networks that want the same name when it becomes invalid", async () => {
    const cluster = createNetworkCluster();
    cluster.setState("worker-1", { ...blue, interfaces: [nic("nics")] });
    cluster.addNetwork("BridgeNetwork", "blue");
    cluster.addNetwork("OVSNetwork", "blue");
    await cluster.settle();
    cluster.setState("worker-1", { ...blue, interfaces: [nic("others")] });
    expect(cluster.woken()).toContain(`OVSNetwork.${group}/${operatorNamespace}/blue`);
  });
});

describe("a network that replaces another of the same name", () => {
  it("enqueues the networks that want the same NetworkAttachmentDefinition, because it is younger now", async () => {
    const cluster = createNetworkCluster();
    cluster.addNetwork("SriovNetwork", "blue");
    cluster.addNetwork("OVSNetwork", "blue");
    await cluster.settle();
    const before = cluster.network("SriovNetwork", "blue");
    if (before === undefined) throw new TypeError("no network");
    const metadata = { ...before.metadata, uid: "another", resourceVersion: "1000" };
    cluster.networks.SriovNetwork.upsert({ ...before, metadata }); // as after a list that missed the deletion of the first one
    expect(cluster.woken()).toContain(`OVSNetwork.${group}/${operatorNamespace}/blue`);
  });
});

describe("an AfxdpNetwork", () => {
  it("gets the plugin of the provider, and follows changes", async () => {
    const cluster = createNetworkCluster();
    cluster.addNetwork("AfxdpNetwork", "fast");
    await cluster.settle();
    expect(cluster.ready("AfxdpNetwork", "fast")).toContain("True NetworkReady");
    const nad = () => cluster.nad(`${operatorNamespace}/fast`);
    expect(nad()?.metadata.annotations).toMatchObject({
      "k8s.v1.cni.cncf.io/resourceName": "afxdp/nics",
      "sriovnetwork.openshift.io/owner-ref": `AfxdpNetwork.afxdpnetwork.hns.dev/${operatorNamespace}/fast`,
    });
    expect(configOf(nad())["type"]).toBe("host-device");
    cluster.setProvider("upstream");
    await cluster.settle();
    expect(configOf(nad())).toMatchObject({ type: "afxdp", mode: "primary" });
  });

  it("names the device of a pool without PCI devices, and keeps that while the pool has several names", async () => {
    const cluster = createNetworkCluster();
    const device = (name: string) => ({ interfaces: [{ name, mode: "primary", poolName: "nics" }] }) as const;
    cluster.setAfxdpState("worker-1", device("eth1"));
    cluster.addNetwork("AfxdpNetwork", "fast");
    await cluster.settle();
    const nad = () => configOf(cluster.nad(`${operatorNamespace}/fast`));
    expect(nad()).toMatchObject({ type: "host-device", device: "eth1" });
    cluster.setAfxdpState("worker-2", device("eth2"));
    await cluster.settle();
    expect(cluster.ready("AfxdpNetwork", "fast")).toContain(
      "Invalid: spec.poolName: must be a pool whose devices have",
    );
    expect(nad()).toMatchObject({ device: "eth1" });
    cluster.setAfxdpState("worker-2", device("eth1"));
    await cluster.settle();
    expect(cluster.ready("AfxdpNetwork", "fast")).toMatch(/^True/);
    cluster.setAfxdpState("worker-3", { interfaces: [{ name: "eth9", mode: "primary", poolName: "others" }] });
    expect(cluster.woken()).toEqual([]);
  });

  it("names the devices of a pool with PCI devices that its pods cannot get", async () => {
    const cluster = createNetworkCluster();
    const device = { mode: "primary", poolName: "nics" } as const;
    cluster.setAfxdpState("worker-1", { interfaces: [{ ...device, pciAddress: "0000:5e:00.0" }] });
    cluster.addNetwork("AfxdpNetwork", "fast");
    await cluster.settle();
    const isReady = `True NetworkReady: NetworkAttachmentDefinition is provisioned as ${operatorNamespace}/fast`;
    expect(cluster.ready("AfxdpNetwork", "fast")).toBe(isReady);
    cluster.setAfxdpState("worker-2", { interfaces: [{ ...device, name: "eth1" }] });
    await cluster.settle();
    expect(cluster.ready("AfxdpNetwork", "fast")).toContain(`${isReady}; pods that get eth1 of pool nics cannot be`);
    cluster.setProvider("upstream");
    await cluster.settle();
    expect(cluster.ready("AfxdpNetwork", "fast")).toBe(isReady);
  });

  it("says what is wrong, and has its NetworkAttachmentDefinition removed with it from another namespace", async () => {
    const cluster = createNetworkCluster();
    cluster.addNetwork("AfxdpNetwork", "bad", { ipam: '{"type": }' });
    cluster.addNetwork("AfxdpNetwork", "far", { networkNamespace: "tenant" });
    await cluster.settle();
    expect(cluster.ready("AfxdpNetwork", "bad")).toContain("Invalid: spec.ipam: invalid JSON at line 1, column 10");
    expect(cluster.nad("tenant/far")).toBeDefined();
    cluster.removeNetwork("AfxdpNetwork", "far");
    await cluster.settle();
    expect(cluster.nad("tenant/far")).toBeUndefined();
  });
});
