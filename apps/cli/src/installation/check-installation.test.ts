// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { collectObjects } from "../cluster/cluster-objects.ts";
import { createSnapshot } from "../diagnosis/snapshot.ts";
import { toManifest } from "../json.ts";
import { silentDiagnostics } from "../terminal.ts";
import { node } from "../testing/objects.ts";
import { runCli } from "../testing/run-cli.ts";
import { checkInstallation } from "./check-installation.ts";

const name = "sriov-network-operator";
const readKinds = ["Node", "Namespace", "Pod", "Deployment", "CustomResourceDefinition"];

function check(objects: readonly object[], { version = "v1.36.3", kinds = readKinds } = {}) {
  const manifests = objects.flatMap((object) => toManifest(object, "test") ?? []);
  const cluster = collectObjects(manifests, { namespace: name, diagnostics: silentDiagnostics });
  const options = {
    namespace: name,
    resourcePrefix: "openshift.io",
    readKinds: kinds,
    source: { name: "lab", version },
  };
  const { checks } = checkInstallation(createSnapshot(manifests, cluster, options));
  return Object.fromEntries(checks.map(({ about, result, text }) => [about, `${result}: ${text}`]));
}

function namespace(labels: Readonly<Record<string, string>> = {}) {
  return { apiVersion: "v1", kind: "Namespace", metadata: { name, labels } };
}

function pod(podName: string, home = "kube-system") {
  const metadata = { name: podName, namespace: home };
  return { apiVersion: "v1", kind: "Pod", metadata, spec: { containers: [] }, status: { phase: "Running" } };
}

function deployment(labels: Readonly<Record<string, string>>) {
  const metadata = { name, namespace: name, labels };
  const spec = { template: { metadata: { labels: { name } } } };
  return { apiVersion: "apps/v1", kind: "Deployment", metadata, spec };
}

const nads = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "network-attachment-definitions.k8s.cni.cncf.io" },
};
const workers = [
  node("control-1", { "node-role.kubernetes.io/control-plane": "" }),
  node("worker-1", { "kubernetes.io/arch": "amd64", "feature.node.kubernetes.io/network-sriov.capable": "true" }),
];

describe("checkInstallation", () => {
  it("finds nothing in the way in a cluster that is prepared", () => {
    const found = check([...workers, namespace(), nads, pod("kube-multus-ds-x7")]);
    expect(found).toMatchObject({
      Kubernetes: "ok: The version is v1.36.3.",
      Operator: "ok: Namespace sriov-network-operator has no operator yet.",
      "Pod Security": expect.stringMatching(/^ok: /),
      Multus: "ok: The kind NetworkAttachmentDefinition exists, and 1 pod of Multus runs.",
      Nodes: expect.stringMatching(/^ok: 2 of 2 nodes have the labels node-role.kubernetes.io\/worker, /),
      "SR-IOV": expect.stringMatching(/^ok: 1 node has the label /),
      IOMMU: expect.stringMatching(/^unknown: /),
    });
    expect(Object.keys(found)).not.toContain("Control plane");
  });

  it.each<{ what: string; objects: readonly object[]; version?: string; about: string; says: string }>([
    {
      what: "an old Kubernetes",
      objects: workers,
      version: "v1.29.4",
      about: "Kubernetes",
      says: "stop: The version is v1.29.4",
    },
    {
      what: "restricted pods",
      objects: [namespace({ "pod-security.kubernetes.io/enforce": "restricted" })],
      about: "Pod Security",
      says: 'stop: Namespace sriov-network-operator enforces "restricted"',
    },
    {
      what: "a namespace to be",
      objects: workers,
      about: "Pod Security",
      says: "note: Namespace sriov-network-operator does not exist yet.",
    },
    {
      what: "no Multus",
      objects: workers,
      about: "Multus",
      says: "note: The kind NetworkAttachmentDefinition does not exist, and the chart creates it.",
    },
    {
      what: "Multus without pods",
      objects: [...workers, nads],
      about: "Multus",
      says: "note: The kind NetworkAttachmentDefinition exists, but no pod",
    },
    {
      what: "no worker",
      objects: [{ ...node("a"), metadata: { name: "a" } }],
      about: "Nodes",
      says: "stop: No node has the labels node-role.kubernetes.io/worker, kubernetes.io/os=linux",
    },
    {
      what: "the Go operator",
      objects: [deployment({})],
      about: "Operator",
      says: "stop: The Go operator is installed",
    },
    {
      what: "Switchyard",
      objects: [deployment({ "app.kubernetes.io/name": "switchyard" })],
      about: "Operator",
      says: "note: Switchyard is installed",
    },
    {
      what: "Switchyard with another name",
      objects: [deployment({ "app.kubernetes.io/name": "nics", "app.kubernetes.io/component": "operator" })],
      about: "Operator",
      says: "note: Switchyard is installed",
    },
    {
      what: "another device plugin",
      objects: [pod("kube-sriov-device-plugin-amd64-k2")],
      about: "Device plugin",
      says: "note: Pod kube-system/kube-sriov-device-plugin-amd64-k2",
    },
    {
      what: "an s390x node",
      objects: [node("z", { "kubernetes.io/arch": "s390x" })],
      about: "Architecture",
      says: "note: The images are for amd64 and arm64, so these nodes cannot be configured: z (s390x).",
    },
    {
      what: "a managed cluster",
      objects: [node("a")],
      about: "Control plane",
      says: "note: No node of the control plane is visible",
    },
    {
      what: "Talos",
      objects: [{ ...node("a"), status: { nodeInfo: { osImage: "Talos (v1.11.2)" } } }],
      about: "Hosts",
      says: "note: These nodes have a read-only /etc: a (Talos (v1.11.2)).",
    },
  ])("reports $what", ({ objects, version, about, says }) => {
    expect(check(objects, version === undefined ? {} : { version })[about]).toContain(says);
  });

  it("does not take what it could not read for missing", () => {
    expect(check([], { version: "", kinds: [] })).toEqual({
      Kubernetes: expect.stringMatching(/^unknown: /),
      "Pod Security": expect.stringMatching(/^unknown: /),
      Multus: expect.stringMatching(/^unknown: /),
      Nodes: expect.stringMatching(/^unknown: /),
      "SR-IOV": expect.stringMatching(/^unknown: /),
      IOMMU: expect.stringMatching(/^unknown: /),
    });
  });
});

describe("switchyard check", () => {
  it("prints a line for each check, and fails if something stands in the way", async () => {
    const restricted = namespace({ "pod-security.kubernetes.io/enforce": "baseline" });
    const { code, out } = await runCli(["check", "-f", "-"], { input: [...workers, restricted] });
    expect(code).toBe(1);
    expect(out).toMatch(/^stop {5}Pod Security: Namespace sriov-network-operator enforces "baseline"/m);
    expect(out).toMatch(/\n1 thing stands in the way\.\n$/);
    const good = await runCli(["check", "-f", "-", "-o", "json"], { input: [...workers, namespace()] });
    expect([good.code, JSON.parse(good.out)]).toMatchObject([
      0,
      { checks: [{ about: "Kubernetes", result: "unknown" }, {}, {}, {}, {}, {}, {}] },
    ]);
  });
});
