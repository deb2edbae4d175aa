// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { annotations, namespaces, networkAttachmentDefinitions } from "@switchyard/api";
import { KubeError } from "@switchyard/kube";
import type { NetworkKind } from "@switchyard/render";
import { notFound } from "./testing/memory-api.ts";
import { configOf, createNetworkCluster, operatorNamespace } from "./testing/network-cluster.ts";

const kinds: readonly NetworkKind[] = ["SriovNetwork", "SriovIBNetwork", "OVSNetwork", "BridgeNetwork"];
const group = "sriovnetwork.openshift.io";

describe("a network", () => {
  it.each(kinds)("of kind %s becomes a NetworkAttachmentDefinition of the same name in its namespace", async (kind) => {
    const cluster = createNetworkCluster();
    cluster.addNetwork(kind, "blue", kind === "BridgeNetwork" ? { bridge: "br0" } : {}, "tenant");
    await cluster.settle();
    const nad = cluster.nad("tenant/blue");
    expect(nad?.metadata).toMatchObject({
      annotations: {
        [annotations.resourceName]: "openshift.io/nics",
        [annotations.ownerRef]: `${kind}.${group}/tenant/blue`,
      },
      ownerReferences: [
        { apiVersion: `${group}/v1`, kind, name: "blue", uid: cluster.network(kind, "blue", "tenant")?.metadata.uid },
      ],
    });
    expect(configOf(nad)["name"]).toBe("blue");
    expect(cluster.ready(kind, "blue", "tenant")).toBe(
      "True NetworkReady: NetworkAttachmentDefinition is provisioned as tenant/blue",
    );
    expect(cluster.network(kind, "blue", "tenant")).toMatchObject({ status: { observedGeneration: 1 } });
    expect(cluster.news()).toEqual([`Normal NetworkReady ${kind}/blue`]);
  });

  it("of the operator's namespace is created in networkNamespace, without an owner", async () => {
    const cluster = createNetworkCluster();
    cluster.addNetwork("SriovNetwork", "blue", { networkNamespace: "tenant" });
    await cluster.settle();
    expect(cluster.owners()).toEqual({ "tenant/blue": `SriovNetwork.${group}/${operatorNamespace}/blue` });
    expect(cluster.nad("tenant/blue")?.metadata.ownerReferences).toBeUndefined();
  });

  it("of another namespace must not set networkNamespace: it reports that, and nothing is written", async () => {
    const cluster = createNetworkCluster();
    cluster.addNetwork("OVSNetwork", "blue", { networkNamespace: "other" }, "tenant");
    await cluster.settle();
    expect(cluster.owners()).toEqual({});
    expect(cluster.ready("OVSNetwork", "blue", "tenant")).toBe(
      "False NetworkAttachmentDefinitionInvalid: spec.networkNamespace cannot be set, because the network is " +
        `outside of the operator's namespace ${operatorNamespace}; omit it`,
    );
    expect(cluster.news()).toEqual(["Warning NetworkAttachmentDefinitionInvalid OVSNetwork/blue"]);
  });

  it.each([
    { kind: "BridgeNetwork", plugin: "accelerated-bridge", image: "acceleratedBridgeCni" },
    { kind: "OVSNetwork", plugin: "ovs", image: "ovsCni" },
    { kind: "SriovIBNetwork", plugin: "ib-sriov", image: "ibSriovCni" },
  ] as const)(
    "of kind $kind says that the operator does not install its plugin $plugin",
    async ({ kind, plugin, image }) => {
      const cluster = createNetworkCluster({ images: {} });
      cluster.addNetwork(kind, "blue", kind === "BridgeNetwork" ? { bridge: "br0" } : {});
      await cluster.settle();
      expect(cluster.ready(kind, "blue")).toBe(
        `True NetworkReady: NetworkAttachmentDefinition is provisioned as ${operatorNamespace}/blue; the operator does not ` +
          `install the CNI plugin ${plugin}, because the chart's value images.${image} is empty: pods join the network only on ` +
          "nodes that have the plugin",
      );
    },
  );

  it("has exactly one of Ready, Progressing and Degraded", async () => {
    const cluster = createNetworkCluster();
    cluster.addNetwork("SriovNetwork", "blue");
    cluster.addNetwork("SriovNetwork", "broken", { ipam: "{" });
    await cluster.settle();
    const statuses = (name: string) =>
      cluster.conditions("SriovNetwork", name).map(({ type, status }) => `${type} ${status}`);
    expect(statuses("blue")).toEqual(["Ready True", "Progressing False", "Degraded False"]);
    expect(statuses("broken")).toEqual(["Ready False", "Progressing False", "Degraded True"]);
  });

  it("without a resourceName reports that, and nothing is written (sriov-operator.md M-35)", async () => {
    const cluster = createNetworkCluster();
    cluster.addNetwork("SriovNetwork", "blue", { resourceName: "" });
    await cluster.settle();
    expect(cluster.owners()).toEqual({});
    expect(cluster.ready("SriovNetwork", "blue")).toContain("Invalid: spec.resourceName: must not be empty");
  });

  it("with ipam that is not JSON reports the position and all problems at once, without retries (sriov-operator.md M-54)", async () => {
    const cluster = createNetworkCluster();
    cluster.addNetwork("SriovNetwork", "blue", { ipam: '{"type": host-local}', capabilities: '{"mac": true' });
    await cluster.settle();
    const ready = cluster.ready("SriovNetwork", "blue");
    expect(ready).toContain("spec.ipam: invalid JSON at line 1, column 10 (in type): expected a value");
    expect(ready).toContain('spec.capabilities: invalid JSON at line 1, column 13: expected "," or "}"');
    expect([...cluster.requeued]).toEqual([]);
    cluster.addNetwork("SriovNetwork", "blue", { ipam: '{"type": "host-local"}', capabilities: "" });
    await cluster.settle();
    expect(cluster.ready("SriovNetwork", "blue")).toContain("True NetworkReady");
    expect(cluster.news()).toEqual([
      "Warning NetworkAttachmentDefinitionInvalid SriovNetwork/blue",
      "Normal NetworkReady SriovNetwork/blue",
    ]);
  });

  it("that becomes invalid keeps its NetworkAttachmentDefinition and reports the problem", async () => {
    const cluster = createNetworkCluster();
    cluster.addNetwork("SriovNetwork", "blue", { vlan: 5 });
    await cluster.settle();
    cluster.addNetwork("SriovNetwork", "blue", { ipam: "{" });
    await cluster.settle();
    expect(configOf(cluster.nad(`${operatorNamespace}/blue`))["vlan"]).toBe(5);
    expect(cluster.ready("SriovNetwork", "blue")).toContain("False NetworkAttachmentDefinitionInvalid");
  });

  it("keeps quotes and blanks in its texts (sriov-operator.md M-16)", async () => {
    const cluster = createNetworkCluster();
    cluster.addNetwork("SriovNetwork", "blue", { ipam: '{"type": "static", "note": "it\'s  two  blanks"}' });
    await cluster.settle();
    expect(configOf(cluster.nad(`${operatorNamespace}/blue`))["ipam"]).toEqual({
      type: "static",
      note: "it's  two  blanks",
    });
  });

  it("is written once, and not again without a change or after a restart", async () => {
    const cluster = createNetworkCluster();
    for (const kind of kinds)
      cluster.addNetwork(kind, kind.toLowerCase(), { bridge: "br0", networkNamespace: "tenant" });
    await cluster.settle();
    expect(cluster.api.writes).toHaveLength(8);
    cluster.stop();
    cluster.start();
    await cluster.settle();
    expect(cluster.api.writes).toHaveLength(8);
    expect(cluster.news()).toHaveLength(4);
  });

  it("that was replaced by another of the same name does not get the status of the old one", async () => {
    const cluster = createNetworkCluster();
    cluster.addNetwork("SriovNetwork", "blue", { ipam: "{" });
    cluster.api.caching = false;
    cluster.removeNetwork("SriovNetwork", "blue");
    cluster.addNetwork("SriovNetwork", "blue");
    await expect(cluster.settle()).rejects.toMatchObject({ code: "Conflict" });
    cluster.api.caching = true;
    await cluster.later();
    expect(cluster.ready("SriovNetwork", "blue")).toContain("True NetworkReady");
  });

  it("that is gone gets no new NetworkAttachmentDefinition while the cache still shows the network", async () => {
    const cluster = createNetworkCluster();
    cluster.addNetwork("SriovNetwork", "blue");
    await cluster.settle();
    cluster.api.caching = false;
    cluster.removeNetwork("SriovNetwork", "blue");
    cluster.collectGarbage();
    cluster.nads.remove({ namespace: operatorNamespace, name: "blue" });
    await cluster.settle();
    await cluster.later();
    expect(cluster.owners()).toEqual({});
    cluster.api.caching = true;
    await cluster.later();
    expect([cluster.owners(), cluster.requeued.size]).toEqual([{}, 0]);
  });

  it("reports NamespaceNotFound until the namespace exists, and is created then", async () => {
    const cluster = createNetworkCluster();
    cluster.addNetwork("SriovNetwork", "blue", { networkNamespace: "later" });
    await cluster.settle();
    expect(cluster.ready("SriovNetwork", "blue")).toContain("False NamespaceNotFound: namespace later does not exist;");
    expect([...cluster.requeued]).toEqual([]);
    cluster.addNamespace("later");
    await cluster.settle();
    expect(Object.keys(cluster.owners())).toEqual(["later/blue"]);
    expect(cluster.ready("SriovNetwork", "blue")).toContain("True NetworkReady");
  });

  it("waits while its namespace is being deleted, and is created in the next one of that name", async () => {
    const cluster = createNetworkCluster();
    const finalizers = ["kubernetes"];
    cluster.api.put({ apiVersion: "v1", kind: "Namespace", metadata: { name: "tenant", finalizers } });
    cluster.addNetwork("SriovNetwork", "blue", { networkNamespace: "tenant" });
    await cluster.settle();
    cluster.api.delete(namespaces, { name: "tenant" });
    cluster.removeNad("tenant/blue");
    await cluster.settle();
    expect(cluster.ready("SriovNetwork", "blue")).toContain(
      "False NamespaceNotFound: namespace tenant is being deleted",
    );
    cluster.api.put({ apiVersion: "v1", kind: "Namespace", metadata: { name: "tenant", finalizers: [] } });
    await cluster.settle();
    expect(cluster.ready("SriovNetwork", "blue")).toContain("namespace tenant does not exist");
    cluster.addNamespace("tenant");
    await cluster.settle();
    expect(Object.keys(cluster.owners())).toEqual(["tenant/blue"]);
  });
});

describe("a cluster without NetworkAttachmentDefinitions", () => {
  it("is reported on the networks, and all are created when the kind appears", async () => {
    const cluster = createNetworkCluster();
    cluster.nads.notServed();
    cluster.addNetwork("SriovNetwork", "blue");
    await cluster.settle();
    expect(cluster.ready("SriovNetwork", "blue")).toBe(
      "False NetworkAttachmentDefinitionNotFound: the API server does not serve NetworkAttachmentDefinitions; install Multus or the CRD " +
        "network-attachment-definitions.k8s.cni.cncf.io",
    );
    cluster.nads.beginList();
    cluster.nads.endList("9");
    await cluster.later();
    expect(cluster.ready("SriovNetwork", "blue")).toContain("True NetworkReady");
  });
});

describe("a refusal of the API server", () => {
  it("is reported on the network with its message, and retried later", async () => {
    const cluster = createNetworkCluster();
    cluster.api.fault = ({ method, path }) => {
      if (method !== "PATCH" || !path.includes(networkAttachmentDefinitions.plural)) return;
      throw new KubeError("PATCH", "Forbidden", { status: 403, words: "exceeded quota" });
    };
    cluster.addNetwork("SriovNetwork", "blue");
    await cluster.settle();
    expect(cluster.ready("SriovNetwork", "blue")).toContain(
      "NetworkAttachmentDefinitionNotFound: PATCH: Forbidden (exceeded quota)",
    );
    expect([...cluster.requeued.values()]).toEqual([30_000]);
    cluster.api.fault = () => undefined;
    await cluster.later();
    expect(cluster.ready("SriovNetwork", "blue")).toContain("True NetworkReady");
  });

  it("because the namespace has just been deleted is reported as NamespaceNotFound", async () => {
    const cluster = createNetworkCluster();
    cluster.api.fault = ({ method, path }) => {
      if (method === "PATCH" && path.includes(networkAttachmentDefinitions.plural))
        throw notFound({ method, path }, "namespaces", "tenant");
    };
    cluster.addNetwork("SriovNetwork", "blue", { networkNamespace: "tenant" });
    await cluster.settle();
    expect(cluster.ready("SriovNetwork", "blue")).toContain("False NamespaceNotFound: namespace tenant does not exist");
  });

  it("because the namespace is being deleted is reported as NamespaceNotFound", async () => {
    const cluster = createNetworkCluster();
    cluster.api.fault = ({ method, path }) => {
      if (method !== "PATCH" || !path.includes(networkAttachmentDefinitions.plural)) return;
      const details = { causes: [{ reason: "NamespaceTerminating" }] };
      throw new KubeError("PATCH", "Forbidden", { status: 403, words: "unable to create new content", details });
    };
    cluster.addNetwork("SriovNetwork", "blue", { networkNamespace: "tenant" });
    await cluster.settle();
    expect(cluster.ready("SriovNetwork", "blue")).toContain(
      "False NamespaceNotFound: namespace tenant is being deleted",
    );
  });

  it("of a status because the network is gone is ignored", async () => {
    const cluster = createNetworkCluster();
    cluster.api.fault = ({ method, path }) => {
      if (method === "PATCH" && path.endsWith("/status")) throw notFound({ method, path }, "sriovnetworks", "blue");
    };
    cluster.addNetwork("SriovNetwork", "blue");
    await cluster.settle();
    expect([cluster.requeued.size, cluster.news()]).toEqual([0, []]);
  });

  it("of a status for another reason is retried", async () => {
    const cluster = createNetworkCluster();
    cluster.api.fault = ({ method, path }) => {
      if (method === "PATCH" && path.endsWith("/status")) throw new KubeError(path, "Forbidden", { status: 403 });
    };
    cluster.addNetwork("SriovNetwork", "blue");
    await expect(cluster.settle()).rejects.toMatchObject({ code: "Forbidden" });
  });

  it("of a temporary kind is retried and not reported on the network", async () => {
    const cluster = createNetworkCluster();
    cluster.api.fault = () => {
      throw new KubeError("GET", "ServiceUnavailable", { status: 503 });
    };
    cluster.addNetwork("SriovNetwork", "blue");
    await expect(cluster.settle()).rejects.toMatchObject({ code: "ServiceUnavailable" });
    expect(cluster.ready("SriovNetwork", "blue")).toBe("");
  });
});
