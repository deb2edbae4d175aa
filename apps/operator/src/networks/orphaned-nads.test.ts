// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { annotations, upstreamFinalizers } from "@switchyard/api";
import { KubeError } from "@switchyard/kube";
import { createNetworkCluster, operatorNamespace } from "./testing/network-cluster.ts";

const group = "sriovnetwork.openshift.io";

describe("a network that moves or is deleted", () => {
  it("moves its NetworkAttachmentDefinition when networkNamespace changes (sriov-operator.md M-15)", async () => {
    const cluster = createNetworkCluster();
    for (const networkNamespace of ["tenant", "other", null]) {
      cluster.addNetwork("SriovNetwork", "blue", { networkNamespace });
      await cluster.settle();
      expect(Object.keys(cluster.owners())).toEqual([`${networkNamespace ?? operatorNamespace}/blue`]);
    }
  });

  it("is created in the new namespace even if the deletion in the old one is refused", async () => {
    const cluster = createNetworkCluster();
    cluster.addNetwork("SriovNetwork", "blue", { networkNamespace: "tenant" });
    await cluster.settle();
    cluster.api.fault = ({ method, path }) => {
      if (method === "DELETE") throw new KubeError(`DELETE ${path}`, "Forbidden", { status: 403 });
    };
    cluster.addNetwork("SriovNetwork", "blue", { networkNamespace: "other" });
    await expect(cluster.settle()).rejects.toMatchObject({ code: "Forbidden" });
    expect(Object.keys(cluster.owners())).toEqual(["tenant/blue", "other/blue"]);
    expect(cluster.ready("SriovNetwork", "blue")).toContain("is provisioned as other/blue");
    cluster.api.fault = () => undefined;
    await cluster.later();
    expect(Object.keys(cluster.owners())).toEqual(["other/blue"]);
  });

  it("leaves the old namespace even if the new one does not exist yet (sriov-operator.md M-15)", async () => {
    const cluster = createNetworkCluster();
    cluster.addNetwork("SriovNetwork", "blue", { networkNamespace: "tenant" });
    await cluster.settle();
    cluster.addNetwork("SriovNetwork", "blue", { networkNamespace: "later" });
    await cluster.settle();
    expect(cluster.owners()).toEqual({});
    expect(cluster.ready("SriovNetwork", "blue")).toContain("NamespaceNotFound");
  });

  it("is moved also by an operator that did not run meanwhile, whatever upstream's annotation contains (sriov-operator.md M-15)", async () => {
    const cluster = createNetworkCluster();
    cluster.addNetwork("SriovNetwork", "blue", { networkNamespace: "tenant" });
    await cluster.settle();
    cluster.stop();
    cluster.addNetwork("SriovNetwork", "blue", { networkNamespace: "other" });
    const metadata = {
      name: "blue",
      namespace: operatorNamespace,
      annotations: { [annotations.lastNetworkNamespace]: "" },
    };
    cluster.api.put({ kind: "SriovNetwork", metadata });
    cluster.start();
    await cluster.settle();
    expect(Object.keys(cluster.owners())).toEqual(["other/blue"]);
    expect(cluster.network("SriovNetwork", "blue")?.metadata.annotations).toEqual({});
  });

  it("loses its NetworkAttachmentDefinition in another namespace although it has no finalizer", async () => {
    const cluster = createNetworkCluster();
    cluster.addNetwork("SriovNetwork", "blue", { networkNamespace: "tenant" });
    await cluster.settle();
    expect(cluster.network("SriovNetwork", "blue")?.metadata.finalizers).toBeUndefined();
    cluster.removeNetwork("SriovNetwork", "blue");
    await cluster.settle();
    expect(cluster.owners()).toEqual({});
  });

  it("keeps it while the deletion may be part of a replacement, or the network was lost with its kind", async () => {
    const cluster = createNetworkCluster();
    cluster.addNetwork("SriovNetwork", "blue", { networkNamespace: "tenant" });
    await cluster.settle();
    cluster.lost.settleMs = 1_200;
    cluster.removeNetwork("SriovNetwork", "blue");
    await cluster.settle();
    expect(Object.keys(cluster.owners())).toEqual(["tenant/blue"]);
    cluster.lost.settleMs = 0;
    const hold = { reason: "DefinitionMissing", message: "it does not exist", afterMs: 10_000 } as const;
    cluster.lost.kinds.set("SriovNetwork", hold);
    await cluster.later();
    expect(Object.keys(cluster.owners())).toEqual(["tenant/blue"]);
    cluster.lost.kinds.clear();
    await cluster.later();
    expect(cluster.owners()).toEqual({});
  });

  it("loses it at the next start if the operator did not run", async () => {
    const cluster = createNetworkCluster();
    cluster.addNetwork("SriovNetwork", "blue", { networkNamespace: "tenant" });
    await cluster.settle();
    cluster.stop();
    cluster.removeNetwork("SriovNetwork", "blue");
    cluster.start();
    await cluster.settle();
    expect(cluster.owners()).toEqual({});
  });

  it("leaves the NetworkAttachmentDefinition in its own namespace to the garbage collector", async () => {
    const cluster = createNetworkCluster();
    cluster.addNetwork("SriovNetwork", "blue", {}, "tenant");
    await cluster.settle();
    const written = cluster.api.writes.length;
    cluster.removeNetwork("SriovNetwork", "blue", "tenant");
    await cluster.settle();
    expect([Object.keys(cluster.owners()), cluster.api.writes.length]).toEqual([["tenant/blue"], written]);
    cluster.collectGarbage();
    await cluster.settle();
    expect(cluster.owners()).toEqual({});
  });

  it("is read from the API server before anything is deleted, because the cache may lag behind", async () => {
    const cluster = createNetworkCluster();
    cluster.addNetwork("SriovNetwork", "blue", { networkNamespace: "tenant" });
    await cluster.settle();
    cluster.stop();
    cluster.networks.SriovNetwork.remove({ name: "blue", namespace: operatorNamespace });
    cluster.start();
    await cluster.settle();
    expect(Object.keys(cluster.owners())).toEqual(["tenant/blue"]);
  });

  it("is read again if the API server cannot tell whether it is gone", async () => {
    const cluster = createNetworkCluster();
    cluster.addNetwork("SriovNetwork", "blue", { networkNamespace: "tenant" });
    await cluster.settle();
    cluster.api.fault = ({ method, path }) => {
      if (method === "GET") throw new KubeError(`GET ${path}`, "ServiceUnavailable", { status: 503 });
    };
    cluster.removeNetwork("SriovNetwork", "blue");
    await expect(cluster.settle()).rejects.toMatchObject({ code: "ServiceUnavailable" });
    expect(Object.keys(cluster.owners())).toEqual(["tenant/blue"]);
    cluster.api.fault = () => undefined;
    await cluster.later();
    expect(cluster.owners()).toEqual({});
  });

  it("is not taken for deleted if the API server does not serve its kind at the moment", async () => {
    const cluster = createNetworkCluster();
    cluster.addNetwork("SriovNetwork", "blue", { networkNamespace: "tenant" });
    await cluster.settle();
    cluster.api.fault = ({ method, path }) => {
      if (method !== "GET" || !path.includes("sriovnetworks")) return;
      throw new KubeError(`GET ${path}`, "NotFound", { status: 404, words: "404 page not found" });
    };
    cluster.networks.SriovNetwork.notServed();
    await cluster.settle();
    expect(Object.keys(cluster.owners())).toEqual(["tenant/blue"]);

    cluster.removeNetwork("SriovNetwork", "blue"); // no event follows, because the kind is not served
    cluster.networks.SriovNetwork.beginList();
    cluster.networks.SriovNetwork.endList("1000");
    cluster.api.fault = () => undefined;
    await cluster.later();
    expect(cluster.owners()).toEqual({});
  });

  it("does not affect copies under another name", async () => {
    const cluster = createNetworkCluster();
    cluster.addNetwork("SriovNetwork", "blue", { networkNamespace: "tenant" });
    await cluster.settle();
    const marks = { [annotations.ownerRef]: `SriovNetwork.${group}/${operatorNamespace}/blue` };
    cluster.addNad("tenant/copy", { marks });
    cluster.removeNetwork("SriovNetwork", "blue");
    await cluster.settle();
    expect(Object.keys(cluster.owners())).toEqual(["tenant/copy"]);
  });

  it("loses upstream's finalizer at once", async () => {
    const cluster = createNetworkCluster();
    const finalizers = [upstreamFinalizers.network, "example.com/other"];
    cluster.addNetwork("OVSNetwork", "blue", { networkNamespace: "tenant" });
    cluster.api.put({ kind: "OVSNetwork", metadata: { name: "blue", namespace: operatorNamespace, finalizers } });
    await cluster.settle();
    expect(cluster.network("OVSNetwork", "blue")?.metadata.finalizers).toEqual(["example.com/other"]);
  });

  it("loses upstream's finalizer while it is being deleted and has no orphans", async () => {
    const cluster = createNetworkCluster();
    const finalizers = [upstreamFinalizers.network];
    cluster.stop();
    cluster.addNetwork("OVSNetwork", "blue");
    cluster.api.put({ kind: "OVSNetwork", metadata: { name: "blue", namespace: operatorNamespace, finalizers } });
    cluster.removeNetwork("OVSNetwork", "blue");
    cluster.start();
    await cluster.settle();
    expect([cluster.owners(), cluster.network("OVSNetwork", "blue")]).toEqual([{}, undefined]);
  });

  it("loses upstream's finalizer while it is being deleted, after its orphans are deleted", async () => {
    const cluster = createNetworkCluster();
    cluster.addNetwork("OVSNetwork", "blue", { networkNamespace: "tenant" });
    await cluster.settle();
    cluster.stop();
    const finalizers = [upstreamFinalizers.network];
    cluster.api.put({ kind: "OVSNetwork", metadata: { name: "blue", namespace: operatorNamespace, finalizers } });
    cluster.removeNetwork("OVSNetwork", "blue");
    cluster.api.writes.length = 0;
    cluster.start();
    await cluster.settle();
    expect([cluster.owners(), cluster.network("OVSNetwork", "blue")]).toEqual([{}, undefined]);
    expect(cluster.api.writes.map((write) => write.replace(/ .*\//, " "))).toEqual(["DELETE blue", "PATCH blue"]);
  });
});
