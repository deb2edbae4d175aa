// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { annotations, networkAttachmentDefinitions } from "@switchyard/api";
import { KubeError } from "@switchyard/kube";
import { configOf, createNetworkCluster, operatorNamespace } from "./testing/network-cluster.ts";

const group = "sriovnetwork.openshift.io";

describe("a NetworkAttachmentDefinition", () => {
  it("is repaired after an edit or deletion", async () => {
    const cluster = createNetworkCluster();
    cluster.addNetwork("SriovNetwork", "blue", { networkNamespace: "tenant", vlan: 5 });
    await cluster.settle();
    cluster.addNad("tenant/blue", { config: '{"vlan": 6}' });
    await cluster.settle();
    expect(configOf(cluster.nad("tenant/blue"))["vlan"]).toBe(5);
    cluster.addNad("tenant/blue", { marks: { [annotations.resourceName]: "openshift.io/wrong" } });
    await cluster.settle();
    expect(cluster.nad("tenant/blue")?.metadata.annotations?.[annotations.resourceName]).toBe("openshift.io/nics");
    cluster.removeNad("tenant/blue");
    await cluster.settle();
    expect(configOf(cluster.nad("tenant/blue"))["vlan"]).toBe(5);
  });

  it("keeps annotations of users (sriov-operator.md M-16)", async () => {
    const cluster = createNetworkCluster();
    cluster.addNetwork("SriovNetwork", "blue", { networkNamespace: "tenant" });
    await cluster.settle();
    cluster.addNad("tenant/blue", { marks: { "example.com/cost-centre": "42" } });
    cluster.addNetwork("SriovNetwork", "blue", { vlan: 7 });
    await cluster.settle();
    expect(configOf(cluster.nad("tenant/blue"))["vlan"]).toBe(7);
    expect(cluster.nad("tenant/blue")?.metadata.annotations).toMatchObject({ "example.com/cost-centre": "42" });
  });

  it("of another client is not changed until it is deleted", async () => {
    const cluster = createNetworkCluster();
    cluster.addNad("tenant/blue", { config: '{"type": "macvlan"}' });
    cluster.addNetwork("OVSNetwork", "blue", { networkNamespace: "tenant" });
    await cluster.settle();
    expect(configOf(cluster.nad("tenant/blue"))).toEqual({ type: "macvlan" });
    expect(cluster.ready("OVSNetwork", "blue")).toContain(
      "False NetworkAttachmentDefinitionInvalid: NetworkAttachmentDefinition tenant/blue was not created from a network",
    );
    cluster.removeNad("tenant/blue");
    await cluster.settle();
    expect(configOf(cluster.nad("tenant/blue"))["type"]).toBe("ovs");
    expect(cluster.ready("OVSNetwork", "blue")).toContain("True NetworkReady");
  });

  it("of another client is taken over once it is annotated as the message says", async () => {
    const cluster = createNetworkCluster();
    cluster.addNad("tenant/blue", { config: '{"type": "macvlan"}', marks: { mine: "kept" } });
    cluster.addNetwork("OVSNetwork", "blue", { networkNamespace: "tenant" });
    await cluster.settle();
    const [, key = "", value = ""] = /tenant \S+ blue (\S+)=(\S+)$/.exec(cluster.ready("OVSNetwork", "blue")) ?? [];
    cluster.addNad("tenant/blue", { config: '{"type": "macvlan"}', marks: { [key]: value } });
    await cluster.settle();
    expect(configOf(cluster.nad("tenant/blue"))["type"]).toBe("ovs");
    expect(cluster.nad("tenant/blue")?.metadata.annotations).toMatchObject({ mine: "kept" });
  });

  describe.each(["SriovNetwork", "SriovIBNetwork", "OVSNetwork", "BridgeNetwork", "AfxdpNetwork"] as const)(
    "that a user wrote for the resource of a network (%s)",
    (kind) => {
      const resource = kind === "AfxdpNetwork" ? "afxdp/nics" : "openshift.io/nics";
      const spec = kind === "BridgeNetwork" ? { bridge: "br0" } : {};
      const byHand = { config: '{"type": "sriov", "vlan": 100}', marks: { [annotations.resourceName]: resource } };

      it("is not changed, and stays when the network is deleted", async () => {
        const cluster = createNetworkCluster();
        cluster.addNad("tenant/blue", byHand);
        cluster.addNetwork(kind, "blue", { ...spec, networkNamespace: "tenant" });
        await cluster.settle();
        expect(cluster.ready(kind, "blue")).toMatch(
          new RegExp(`^False .*tenant/blue was not created from a network .* kubectl annotate -n tenant .*${kind}\\.`),
        );
        cluster.removeNetwork(kind, "blue");
        await cluster.settle();
        cluster.collectGarbage();
        await cluster.settle();
        expect(configOf(cluster.nad("tenant/blue"))).toEqual({ type: "sriov", vlan: 100 });
        expect(cluster.nad("tenant/blue")?.metadata.annotations).toEqual(byHand.marks);
      });

      it("is not changed either if the network is in its namespace", async () => {
        const cluster = createNetworkCluster();
        cluster.addNad("tenant/blue", byHand);
        cluster.addNetwork(kind, "blue", spec, "tenant");
        await cluster.settle();
        expect(cluster.ready(kind, "blue", "tenant")).toContain("was not created from a network and is not changed");
        cluster.removeNetwork(kind, "blue", "tenant");
        await cluster.settle();
        cluster.collectGarbage();
        expect(configOf(cluster.nad("tenant/blue"))).toEqual({ type: "sriov", vlan: 100 });
      });
    },
  );

  it("without an owner-ref is adopted if upstream's operator wrote it for the network's resource", async () => {
    const cluster = createNetworkCluster();
    const marks = { [annotations.resourceName]: "openshift.io/nics" };
    cluster.addNad("tenant/blue", { marks, manager: "sriov-network-operator" });
    cluster.addNad("tenant/red", {
      marks: { [annotations.resourceName]: "openshift.io/other" },
      manager: "sriov-network-operator",
    });
    cluster.addNetwork("SriovNetwork", "blue", { networkNamespace: "tenant" });
    cluster.addNetwork("SriovNetwork", "red", { networkNamespace: "tenant" });
    await cluster.settle();
    expect(cluster.owners()).toEqual({
      "tenant/blue": `SriovNetwork.${group}/${operatorNamespace}/blue`,
      "tenant/red": "",
    });
  });

  it("of this operator is adopted again after somebody removed its owner-ref", async () => {
    const cluster = createNetworkCluster();
    cluster.addNetwork("SriovNetwork", "blue", { networkNamespace: "tenant" });
    await cluster.settle();
    cluster.addNad("tenant/blue", { marks: { [annotations.ownerRef]: null } });
    await cluster.settle();
    expect(cluster.owners()).toEqual({ "tenant/blue": `SriovNetwork.${group}/${operatorNamespace}/blue` });
  });

  it("without an owner-ref is adopted if the network is its owner", async () => {
    const cluster = createNetworkCluster();
    cluster.addNetwork("SriovNetwork", "blue", {}, "tenant");
    await cluster.settle();
    cluster.addNad("tenant/blue", { marks: { [annotations.ownerRef]: null, [annotations.resourceName]: null } });
    await cluster.settle();
    expect(cluster.owners()).toEqual({ "tenant/blue": `SriovNetwork.${group}/tenant/blue` });
  });

  it("of another client that the cache does not show yet is not overwritten", async () => {
    const cluster = createNetworkCluster();
    cluster.addNad("tenant/blue", { config: '{"type": "macvlan"}' });
    cluster.nads.remove({ namespace: "tenant", name: "blue" });
    cluster.addNetwork("OVSNetwork", "blue", { networkNamespace: "tenant" });
    await cluster.settle();
    expect(configOf(cluster.nad("tenant/blue"))).toEqual({ type: "macvlan" });
    expect([...cluster.requeued.values()]).toEqual([500]);
  });

  it("of another client that replaced the operator's is not overwritten, though the cache still shows the operator's", async () => {
    const cluster = createNetworkCluster();
    cluster.addNetwork("SriovNetwork", "blue", { networkNamespace: "tenant" });
    await cluster.settle();
    cluster.addNetwork("SriovNetwork", "blue", { vlan: 7 });
    cluster.api.caching = false;
    cluster.removeNad("tenant/blue");
    cluster.addNad("tenant/blue", { config: '{"type": "macvlan"}' });
    await expect(cluster.settle()).rejects.toMatchObject({ code: "Conflict" });
    expect(configOf(cluster.nad("tenant/blue"))).toEqual({ type: "macvlan" });
  });

  it("that is being deleted is waited for", async () => {
    const cluster = createNetworkCluster();
    cluster.addNetwork("SriovNetwork", "blue", { networkNamespace: "tenant" });
    await cluster.settle();
    cluster.api.put({
      kind: "NetworkAttachmentDefinition",
      metadata: { name: "blue", namespace: "tenant", finalizers: ["x"] },
    });
    cluster.removeNad("tenant/blue");
    await cluster.settle();
    expect(cluster.ready("SriovNetwork", "blue")).toContain("is being deleted; a new one is created afterwards");
    const before = cluster.nad("tenant/blue")?.metadata.uid;
    cluster.api.put({
      kind: "NetworkAttachmentDefinition",
      metadata: { name: "blue", namespace: "tenant", finalizers: [] },
    });
    await cluster.settle();
    expect(cluster.nad("tenant/blue")?.metadata.uid).not.toBe(before);
    expect(cluster.ready("SriovNetwork", "blue")).toContain("True NetworkReady");
  });
});

describe("two networks that want the same NetworkAttachmentDefinition", () => {
  const winner = `SriovNetwork.${group}/${operatorNamespace}/blue`;
  const loser = `OVSNetwork.${group}/tenant/blue`;

  function collide(cluster: ReturnType<typeof createNetworkCluster>): void {
    cluster.addNetwork("SriovNetwork", "blue", { networkNamespace: "tenant" });
    cluster.addNetwork("OVSNetwork", "blue", {}, "tenant");
  }

  it("are distinguished: the older owns it, the other reports the owner", async () => {
    const cluster = createNetworkCluster();
    collide(cluster);
    await cluster.settle();
    expect(cluster.owners()).toEqual({ "tenant/blue": winner });
    expect(cluster.api.writes.filter((write) => write.includes(networkAttachmentDefinitions.plural))).toHaveLength(1);
    expect(cluster.ready("SriovNetwork", "blue")).toContain("True NetworkReady");
    expect(cluster.ready("OVSNetwork", "blue", "tenant")).toBe(
      "False NetworkAttachmentDefinitionInvalid: NetworkAttachmentDefinition tenant/blue belongs to SriovNetwork " +
        `${operatorNamespace}/blue; delete or rename one of the networks`,
    );
  });

  it("keep it with its owner even if the owner is younger", async () => {
    const cluster = createNetworkCluster();
    cluster.addNetwork("SriovNetwork", "blue", { networkNamespace: "other" });
    cluster.addNetwork("OVSNetwork", "blue", {}, "tenant");
    await cluster.settle();
    cluster.addNetwork("SriovNetwork", "blue", { networkNamespace: "tenant" });
    await cluster.settle();
    expect(cluster.owners()).toEqual({ "tenant/blue": loser });
    expect(cluster.ready("SriovNetwork", "blue")).toContain("belongs to OVSNetwork tenant/blue");
  });

  it("do not affect the owner when the other is deleted (sriov-operator.md M-51)", async () => {
    const cluster = createNetworkCluster();
    collide(cluster);
    await cluster.settle();
    const before = cluster.nad("tenant/blue");
    cluster.removeNetwork("OVSNetwork", "blue", "tenant");
    await cluster.settle();
    cluster.collectGarbage();
    await cluster.settle();
    expect(cluster.nad("tenant/blue")).toEqual(before);
  });

  it.each([
    {
      does: "goes",
      act: (cluster: ReturnType<typeof createNetworkCluster>) => {
        cluster.removeNetwork("SriovNetwork", "blue");
      },
    },
    {
      does: "moves away",
      act: (cluster: ReturnType<typeof createNetworkCluster>) => {
        cluster.addNetwork("SriovNetwork", "blue", { networkNamespace: "other" });
      },
    },
  ])("pass it on at once when the owner $does", async ({ act }) => {
    const cluster = createNetworkCluster();
    collide(cluster);
    await cluster.settle();
    act(cluster);
    await cluster.settle();
    expect(cluster.owners()["tenant/blue"]).toBe(loser);
    expect(cluster.ready("OVSNetwork", "blue", "tenant")).toContain("True NetworkReady");
  });

  it("pass it on at once when the older one is invalid and is deleted", async () => {
    const cluster = createNetworkCluster();
    cluster.api.fault = ({ method, body }) => {
      if (method === "PATCH" && JSON.stringify(body).includes(`"${winner}"`)) {
        throw new KubeError("PATCH", "Forbidden", { status: 403, words: "not this one" });
      }
    };
    collide(cluster);
    await cluster.settle();
    expect(cluster.ready("OVSNetwork", "blue", "tenant")).toContain("which is older; rename one of the networks");
    cluster.removeNetwork("SriovNetwork", "blue");
    await cluster.settle();
    expect(cluster.owners()).toEqual({ "tenant/blue": loser });
  });

  it("do not wait for an invalid one", async () => {
    const cluster = createNetworkCluster();
    cluster.addNetwork("SriovNetwork", "blue", { networkNamespace: "tenant", ipam: "{" });
    cluster.addNetwork("OVSNetwork", "blue", {}, "tenant");
    await cluster.settle();
    expect(cluster.owners()).toEqual({ "tenant/blue": loser });
  });
});
