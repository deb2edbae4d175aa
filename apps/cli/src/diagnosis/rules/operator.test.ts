// SPDX-License-Identifier: Apache-2.0
/** What only a live cluster shows: that something does not exist, and what time it is. */
import { describe, expect, it } from "@jest/globals";
import { collectObjects } from "../../cluster/cluster-objects.ts";
import { silentDiagnostics } from "../../terminal.ts";
import { toManifest } from "../../json.ts";
import { diagnose } from "../diagnose.ts";
import { createSnapshot } from "../snapshot.ts";

const namespace = "sriov-network-operator";
const renewTime = "2026-01-05T10:00:00.000000Z";
const crd = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "sriovnetworks.sriovnetwork.openshift.io" },
  spec: { group: "sriovnetwork.openshift.io" },
};
const lease = {
  apiVersion: "coordination.k8s.io/v1",
  kind: "Lease",
  metadata: { name: "switchyard-operator", namespace },
  spec: { holderIdentity: "operator-0", renewTime },
};
const deployment = {
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: "sriov-network-operator", namespace },
  spec: { replicas: 1 },
  status: { availableReplicas: 1 },
};
const allKinds = ["CustomResourceDefinition", "Deployment", "Lease", "Pod"];

function findingsOf(objects: readonly unknown[], live: { readKinds?: readonly string[]; nowMs?: number }) {
  const manifests = objects.flatMap((object) => toManifest(object, "lab") ?? []);
  const cluster = collectObjects(manifests, { namespace, diagnostics: silentDiagnostics, isIgnoredNoted: false });
  const snapshot = createSnapshot(manifests, cluster, { namespace, resourcePrefix: "openshift.io", ...live });
  return diagnose(snapshot).findings.map(({ code, severity, message }) => `${severity} ${code}: ${message}`);
}

describe("findOperator in a live cluster", () => {
  it("finds that Switchyard is not installed if no CRD of it is listed", () => {
    expect(findingsOf([], { readKinds: allKinds })).toEqual([
      "error NotInstalled: the cluster has no CustomResourceDefinition of Switchyard",
    ]);
  });

  it("does not claim it if CRDs may not be listed, or from files", () => {
    const readKinds = allKinds.filter((kind) => kind !== "CustomResourceDefinition");
    expect(findingsOf([deployment], { readKinds })).toEqual([]);
    expect(findingsOf([deployment], {})).toEqual([]);
  });

  it("finds that the operator's Deployment does not exist if Deployments are listed", () => {
    expect(findingsOf([crd], { readKinds: allKinds })).toEqual([
      `error OperatorNotInstalled: namespace ${namespace} has no such Deployment`,
    ]);
  });

  it("knows the Deployment of a release with another name by the label of its pods", () => {
    const readKinds = allKinds;
    const template = { metadata: { labels: { name: "sriov-network-operator" } } };
    const released = (availableReplicas: number) => ({
      ...deployment,
      metadata: { name: "switchyard-sriov-network-operator", namespace },
      spec: { replicas: 1, template },
      status: { availableReplicas },
    });
    expect(findingsOf([crd, released(1)], { readKinds })).toEqual([]);
    expect(findingsOf([crd, released(0)], { readKinds })).toEqual([
      "error OperatorNotRunning: 0 of 1 pods are available",
    ]);
  });

  it("compares the Lease with the server's clock, and with the latest time in files only after five minutes", () => {
    const minutesLater = (minutes: number) => ({
      readKinds: allKinds,
      nowMs: Date.parse(renewTime) + minutes * 60_000,
    });
    expect(findingsOf([crd, deployment, lease], minutesLater(0.5))).toEqual([]);
    expect(findingsOf([crd, deployment, lease], minutesLater(2))).toEqual([
      "error OperatorNotLeading: not renewed for 2 minutes",
    ]);
    const event = {
      apiVersion: "v1",
      kind: "Event",
      metadata: { name: "e", creationTimestamp: "2026-01-05T10:02:00Z" },
    };
    expect(findingsOf([crd, deployment, lease, event], {})).toEqual([]);
  });
});
