// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import type { SriovNetworkNodeState } from "@switchyard/api";
import { isKubeObject, isRecord } from "@switchyard/kube";
import { findWorkspaceRoot } from "@switchyard/testing";
import fc from "fast-check";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse, parseAllDocuments } from "yaml";
import { isOfKind } from "../cluster/kinds.ts";
import { at } from "../json.ts";
import { network, node, policy, state } from "../testing/objects.ts";
import { runCli } from "../testing/run-cli.ts";

const cluster = [node("worker-2"), node("worker-1"), state("worker-1"), policy("b"), policy("a"), network("net")];

async function itemsOf(input: readonly unknown[], ...flags: readonly string[]) {
  const { code, out, err } = await runCli(["render", "-f", "-", "-o", "json", ...flags], { input });
  const list: unknown = JSON.parse(out);
  return { code, err, list };
}

describe("switchyard render", () => {
  it("prints the configuration that the device plugin of each node reads, if asked", async () => {
    const input = [node("worker-1"), state("worker-1", 2), policy("a", { numVfs: 2 })];
    const { code, list } = await itemsOf(input, "--only", "DevicePluginConfig");
    const pciAddresses = ["0000:3b:02.0", "0000:3b:02.1"];
    expect(code).toBe(0);
    expect(list).toMatchObject({
      items: [
        {
          kind: "DevicePluginConfig",
          metadata: { name: "worker-1" },
          resourceList: [{ resourceName: "nics", selectors: { pciAddresses } }],
        },
      ],
    });
    const all = await itemsOf(input);
    expect(JSON.stringify(all.list)).not.toContain('"DevicePluginConfig"');
  });

  it("prints templates for a VF beside a GPU on one PCIe root, as the guide has them", async () => {
    const gpuClass = {
      apiVersion: "resource.k8s.io/v1",
      kind: "DeviceClass",
      metadata: { name: "gpu.example.com" },
      spec: { selectors: [{ cel: { expression: 'device.driver == "gpu.example.com"' } }] },
    };
    const onRoot = (root: string) => ({ attributes: { "resource.kubernetes.io/pcieRoot": { string: root } } });
    const gpus = (...roots: readonly string[]) => ({
      apiVersion: "resource.k8s.io/v1",
      kind: "ResourceSlice",
      metadata: { name: "worker-1-gpus" },
      spec: { driver: "gpu.example.com", nodeName: "worker-1", devices: roots.map(onRoot) },
    });
    const reported = state("worker-1", 2);
    const nic = { ...reported.status.interfaces[0], pcieRoot: "pci0000:3a" };
    const onNode = [node("worker-1"), { ...reported, status: { interfaces: [nic] } }, policy("a", { numVfs: 2 })];
    const flags = ["--claims", "--only", "ResourceClaimTemplate"];
    const guide = readFileSync(join(findWorkspaceRoot(), "docs/guide/dra.md"), "utf8").replaceAll(
      "deviceClassName: fast",
      "deviceClassName: nics",
    );
    const [, text = ""] = /```yaml\n((?:(?!```)[^])*name: gpu-and-vf\n[^]*?)```/.exec(guide) ?? [];
    const ofGuide = at(parse(text), "spec", "spec", "devices");
    const { code, list } = await itemsOf([...onNode, gpuClass, gpus("pci0000:3a", "pci0000:5d")], ...flags);
    expect([code, list]).toMatchObject([
      0,
      {
        items: [{ metadata: { name: "gpu.example.com-and-nics" }, spec: { spec: { devices: ofGuide } } }],
      },
    ]);
    const apart = await itemsOf([...onNode, gpuClass, gpus("pci0000:5d")], ...flags);
    expect([apart.list, apart.err]).toEqual([
      expect.objectContaining({ items: [] }),
      expect.stringContaining("no node has a VF of a resource on the PCIe root of another device"),
    ]);
    const unknown = await itemsOf([...onNode, gpuClass], ...flags);
    expect(unknown.err).toContain("DeviceClass gpu.example.com: no ResourceSlice says on which PCIe roots");
    expect(JSON.stringify(unknown.list)).toContain("gpu.example.com-and-nics");
    const none = await runCli(["render", "-f", "-", ...flags], { input: onNode });
    expect([none.code, none.err]).toEqual([1, expect.stringContaining("no DeviceClass of another driver")]);
    const without = await runCli(["render", "-f", "-", "--only", "ResourceClaimTemplate"], { input: onNode });
    expect(without.err).toContain("ResourceClaimTemplate requires --claims");
  });

  it("says which DaemonSets can run on no node", async () => {
    const selector = { configDaemonNodeSelector: { sriov: "yes" } };
    const metadata = { name: "default" };
    const config = {
      apiVersion: "sriovnetwork.openshift.io/v1",
      kind: "SriovOperatorConfig",
      metadata,
      spec: selector,
    };
    const { code, err } = await runCli(["render", "-f", "-", "--manifests"], { input: [config, node("worker-1")] });
    expect(code).toBe(0);
    expect(err).toContain("can run on no node: the only node of the cluster does not have the labels sriov=yes");
  });

  it("sets the socket of OVSDB as the operator does", async () => {
    const gate = {
      apiVersion: "sriovnetwork.openshift.io/v1",
      kind: "SriovOperatorConfig",
      metadata: { name: "default" },
      spec: { featureGates: { manageSoftwareBridges: true } },
    };
    const { out } = await runCli(["render", "-f", "-", "--manifests", "--only", "DaemonSet"], {
      input: [gate],
      env: { OVSDB_SOCKET_PATH: "unix:///run/x.sock" },
    });
    expect(out).toContain("unix:///run/x.sock");
  });

  it("prints what the operator would write, sorted", async () => {
    const { code, err, list } = await itemsOf(cluster);
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(list).toMatchObject({
      items: [
        { kind: "ConfigMap", metadata: { name: "device-plugin-config" }, data: { "worker-2": expect.any(String) } },
        { kind: "NetworkAttachmentDefinition", metadata: { name: "net", namespace: "sriov-network-operator" } },
        {
          kind: "SriovNetworkNodeState",
          metadata: { name: "worker-1" },
          spec: { interfaces: [{ pciAddress: "0000:3b:00.0", numVfs: 4, vfGroups: [{ resourceName: "nics" }] }] },
        },
        { kind: "SriovNetworkNodeState", metadata: { name: "worker-2" }, spec: { interfaces: [] } },
      ],
    });
  });

  it.each(["yaml", "json", "text"])("gives the same bytes for the same objects in any order, as %s", async (format) => {
    const render = async (input: readonly unknown[]) =>
      (await runCli(["render", "-f", "-", "-o", format], { input })).out;
    const expected = await render(cluster);
    const same = fc.asyncProperty(fc.shuffledSubarray(cluster, { minLength: cluster.length }), async (input) => {
      expect(await render(input)).toBe(expected);
    });
    await fc.assert(same, { numRuns: 20 });
  });

  describe("fills in the defaults of the webhook before it merges", () => {
    // By name and by vendor: without its default of 99, "z-general" would be the strongest.
    const general = policy("z-general", { nicSelector: { vendor: "8086" }, numVfs: 8, resourceName: "general" });
    const special = policy("special", { nicSelector: { pfNames: ["ens1f0#0-1"] }, priority: 10 });
    const objects = [node("worker-1"), state("worker-1"), general, special];
    const groupsOf = async (input: readonly unknown[]) => {
      const { list } = await itemsOf(input, "--only", "SriovNetworkNodeState");
      return nodeStatesIn(list).flatMap(({ spec }) =>
        (spec?.interfaces ?? []).flatMap(({ vfGroups = [] }) =>
          vfGroups.map(({ policyName = "", isRdma }) => (isRdma === true ? `${policyName} with RDMA` : policyName)),
        ),
      );
    };

    it("priority 99", async () => {
      expect(await groupsOf(objects)).toEqual(["special"]);
    });

    it("isRdma of InfiniBand", async () => {
      const ib = policy("ib", { linkType: "ib", isRdma: false });
      expect(await groupsOf([node("worker-1"), state("worker-1"), ib])).toEqual(["ib with RDMA"]);
      const dpdk = policy("dpdk", { linkType: "ib", deviceType: "vfio-pci" });
      expect(await groupsOf([node("worker-1"), state("worker-1"), dpdk])).toEqual(["dpdk"]);
    });

    it("the stored priority, in a policy that is given again without one", async () => {
      const again = { ...special, spec: { ...special.spec, priority: undefined } };
      const strong = policy("strong", { resourceName: "strong", priority: 50 });
      expect(await groupsOf([...objects, strong])).toEqual(["special"]);
      expect(await groupsOf([...objects, strong, again])).toEqual(["special"]);
    });

    it("nothing if the cluster has stored the policy or runs no webhook", async () => {
      const stored = { ...general, metadata: { ...general.metadata, uid: "5e3c" } };
      expect(await groupsOf([node("worker-1"), state("worker-1"), stored, special])).toEqual(["z-general"]);
      expect(await groupsOf([...objects, operatorConfig({ enableOperatorWebhook: false })])).toEqual(["z-general"]);
      expect(await groupsOf([...objects, operatorConfig({ enableOperatorWebhook: true })])).toEqual(["special"]);
    });
  });

  it("prints documents that kubectl accepts", async () => {
    const { out } = await runCli(["render", "-f", "-"], { input: cluster });
    const { list } = await itemsOf(cluster);
    const parsed = parseAllDocuments(out, { version: "1.1" });
    const documents = "empty" in parsed ? [] : parsed.map((document): unknown => document.toJS());
    expect({ apiVersion: "v1", kind: "List", items: documents }).toEqual(list);
  });

  it("prints only the kinds of --only", async () => {
    const { list } = await itemsOf(cluster, "--only", "ConfigMap,NetworkAttachmentDefinition");
    expect(list).toMatchObject({ items: [{ kind: "ConfigMap" }, { kind: "NetworkAttachmentDefinition" }] });
  });

  it("reports an invalid policy and renders the others", async () => {
    const bad = policy("bad", { nicSelector: { pfNames: ["ens1f0#9-4"] } });
    const { code, err, list } = await itemsOf([...cluster, bad]);
    expect(code).toBe(1);
    expect(err).toContain("SriovNetworkNodePolicy/sriov-network-operator/bad: spec.nicSelector.pfNames: Invalid value");
    expect(list).toEqual((await itemsOf(cluster)).list);
  });

  it("reports on which node a policy matches no NIC", async () => {
    const lost = policy("lost", { nicSelector: { pfNames: ["eth9"] } });
    const { code, err } = await itemsOf([...cluster, lost]);
    expect(code).toBe(0);
    expect(err).toMatch(/^SriovNetworkNodePolicy\/sriov-network-operator\/lost: node worker-1: spec\.nicSelector/m);
  });

  it("reports a network with invalid JSON in ipam", async () => {
    const { code, err } = await itemsOf([...cluster, network("broken", { ipam: '{"type": }' })]);
    expect(code).toBe(1);
    expect(err).toMatch(/^SriovNetwork\/sriov-network-operator\/broken: spec\.ipam: /m);
  });

  it("ignores policies in other namespaces, as the operator does", async () => {
    const elsewhere = { ...policy("c"), metadata: { name: "c", namespace: "tenant" } };
    const { err, list } = await itemsOf([...cluster, elsewhere]);
    expect(err).toBe(
      "SriovNetworkNodePolicy/tenant/c: ignored: not in the operator's namespace sriov-network-operator\n",
    );
    expect(list).toEqual((await itemsOf(cluster)).list);
  });

  it("adds what the operator deploys by --manifests, sorted with the rest", async () => {
    const config = operatorConfig({ enableInjector: true });
    const { code, err, list } = await itemsOf([...cluster, config], "--manifests");
    expect({ code, err }).toEqual({ code: 0, err: expect.stringContaining("no control plane node is visible") });
    const labels = labelsOf(list);
    expect(labels).toEqual([...labels].sort());
    expect(labels).toContain("DaemonSet/sriov-network-operator/sriov-network-config-daemon");
    expect(labels).toContain("MutatingWebhookConfiguration//network-resources-injector-config");
    expect(labels).toContain("SriovNetworkNodeState/sriov-network-operator/worker-1");
    expect(labels.filter((label) => label.includes("operator-webhook"))).toEqual([]);
  });

  it("takes images from the operator's environment variables", async () => {
    const flags = ["render", "-f", "-", "--manifests", "--only", "DaemonSet"];
    const { out } = await runCli(flags, { input: cluster, env: { SRIOV_CNI_IMAGE: "mirror/sriov-cni:2" } });
    expect(out).toContain('image: "mirror/sriov-cni:2"');
    expect(out).toContain("image: switchyard/config-daemon");
    expect(out).not.toContain("kind: SriovNetworkNodeState");
  });

  it("names the flag that a DaemonSet requires", async () => {
    const { code, err } = await runCli(["render", "-f", "-", "--only", "DaemonSet"], { input: cluster });
    expect(code).toBe(64);
    expect(err).toContain("DaemonSet requires --manifests");
  });

  it("reports an unknown feature gate", async () => {
    const { code, err } = await itemsOf([operatorConfig({ featureGates: { metricExporter: true } })], "--manifests");
    expect(code).toBe(0);
    expect(err).toMatch(/^SriovOperatorConfig\/sriov-network-operator\/default: spec\.featureGates\.metricExporter: /m);
  });
});

function operatorConfig(spec: object) {
  const metadata = { name: "default", namespace: "sriov-network-operator" };
  return { apiVersion: "sriovnetwork.openshift.io/v1", kind: "SriovOperatorConfig", metadata, spec };
}

function nodeStatesIn(list: unknown): readonly SriovNetworkNodeState[] {
  const items: unknown = isRecord(list) ? list["items"] : [];
  return (Array.isArray(items) ? items : []).filter((item: unknown) => isOfKind(item, "SriovNetworkNodeState"));
}

function labelsOf(list: unknown): readonly string[] {
  const items: unknown = isRecord(list) ? list["items"] : [];
  return (Array.isArray(items) ? items : []).filter(isKubeObject).map(({ kind, metadata }) => {
    return `${kind}/${metadata.namespace ?? ""}/${metadata.name}`;
  });
}
