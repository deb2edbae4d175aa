// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { annotations, upstreamFinalizers } from "@switchyard/api";
import { KubeError } from "@switchyard/kube";
import { createNetworkCluster, operatorNamespace } from "./testing/network-cluster.ts";

const group = "sriovnetwork.openshift.io";

describe("a network that moves or goes", () => {
  it("takes its NetworkAttachmentDefinition along when networkNamespace changes (M-15)", async () => {
    const cluster = createNetworkCluster();
    for (const networkNamespace of ["tenant", "other", null]) {
      cluster.addNetwork("SriovNetwork", "blue", { networkNamespace });
      await cluster.settle();
      expect(Object.keys(cluster.owners())).toEqual([`${networkNamespace ?? operatorNamespace}/blue`]);
    }
  });

  it("is made in the new namespace also where the old one does not let go", async () => {
    const cluster = createNetworkCluster();
    cluster.addNetwork("SriovNetwork", "blue", { networkNamespace: "tenant" });
    await cluster.settle();
    cluster.api.fault = ({ method, path }) => {
      if (method === "DELETE") throw new KubeError(`DELETE ${path}`, "Forbidden", { status: 403 });
    };
    cluster.addNetwork("SriovNetwork", "blue", { networkNamespace: "other" });
    await expect(cluster.settle()).rejects.toMatchObject({ code: "Forbidden" });
    expect(Object.keys(cluster.owners())).toEqual(["tenant/blue", "other/blue"]);
    expect(cluster.ready("SriovNetwork", "blue")).toContain("other/blue is up to date");
    cluster.api.fault = () => undefined;
    await cluster.later();
    expect(Object.keys(cluster.owners())).toEqual(["other/blue"]);
  });

  it("leaves the old namespace also where the new one is not there yet (M-15)", async () => {
    const cluster = createNetworkCluster();
    cluster.addNetwork("SriovNetwork", "blue", { networkNamespace: "tenant" });
    await cluster.settle();
    cluster.addNetwork("SriovNetwork", "blue", { networkNamespace: "later" });
    await cluster.settle();
    expect(cluster.owners()).toEqual({});
    expect(cluster.ready("SriovNetwork", "blue")).toContain("NamespaceNotFound");
  });

  it("is followed also by an operator that was away meanwhile, whatever upstream's note says (M-15)", async () => {
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

  it("takes what is in another namespace with it, though it has no finalizer", async () => {
    const cluster = createNetworkCluster();
    cluster.addNetwork("SriovNetwork", "blue", { networkNamespace: "tenant" });
    await cluster.settle();
    expect(cluster.network("SriovNetwork", "blue")?.metadata.finalizers).toBeUndefined();
    cluster.removeNetwork("SriovNetwork", "blue");
    await cluster.settle();
    expect(cluster.owners()).toEqual({});
  });

  it("takes it with it also while the operator is away: at its next start", async () => {
    const cluster = createNetworkCluster();
    cluster.addNetwork("SriovNetwork", "blue", { networkNamespace: "tenant" });
    await cluster.settle();
    cluster.stop();
    cluster.removeNetwork("SriovNetwork", "blue");
    cluster.start();
    await cluster.settle();
    expect(cluster.owners()).toEqual({});
  });

  it("leaves what is in its own namespace to the garbage collector", async () => {
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

  it("is asked for before anything is deleted in its name: a cache may be behind", async () => {
    const cluster = createNetworkCluster();
    cluster.addNetwork("SriovNetwork", "blue", { networkNamespace: "tenant" });
    await cluster.settle();
    cluster.stop();
    cluster.networks.SriovNetwork.remove({ name: "blue", namespace: operatorNamespace });
    cluster.start();
    await cluster.settle();
    expect(Object.keys(cluster.owners())).toEqual(["tenant/blue"]);
  });

  it("is asked for again when the API server cannot say whether it is gone", async () => {
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

  it("is not taken for gone when the API server does not know its kind at the moment", async () => {
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

    cluster.removeNetwork("SriovNetwork", "blue"); // it was not served when it went: nobody tells of that
    cluster.networks.SriovNetwork.beginList();
    cluster.networks.SriovNetwork.endList("1000");
    cluster.api.fault = () => undefined;
    await cluster.later();
    expect(cluster.owners()).toEqual({});
  });

  it("does not take copies of another name with it", async () => {
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

  it("loses upstream's finalizer also when it is going already and leaves nothing behind", async () => {
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

  it("loses upstream's finalizer also when it is going already, after what it leaves behind", async () => {
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
