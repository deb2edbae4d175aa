// SPDX-License-Identifier: Apache-2.0
import { beforeAll, describe, expect, it } from "@jest/globals";
import { gzipSync } from "node:zlib";
import { healthyCluster, type Editable } from "../diagnosis/testing/healthy-cluster.ts";
import { isJsonObject, listAt } from "../json.ts";
import { policy } from "../testing/objects.ts";
import { runCli } from "../testing/run-cli.ts";

const namespace = "sriov-network-operator";
let objects: readonly Editable[] = [];

beforeAll(async () => {
  objects = await healthyCluster();
});

/** A revision of a release, as Helm stores it. */
function revision(version: number, config: object, chart = "sriov-network-operator-chart"): object {
  const release = { name: "sriov", version, chart: { metadata: { name: chart, version: "1.6.0" } }, config };
  const text = gzipSync(JSON.stringify(release)).toString("base64");
  return {
    apiVersion: "v1",
    kind: "Secret",
    type: "helm.sh/release.v1",
    metadata: { name: `sh.helm.release.v1.sriov.v${version}`, namespace },
    data: { release: Buffer.from(text).toString("base64") },
  };
}

async function check(more: readonly object[], ...flags: readonly string[]) {
  const { code, out } = await runCli(["migrate", "check", "-f", "-", "-o", "json", ...flags], {
    input: [...objects, ...more],
  });
  const result: unknown = JSON.parse(out);
  const findings = listAt(result, "findings").filter(isJsonObject);
  const told = findings.map(({ severity, about, text }) => `${String(severity)}: ${String(about)} ${String(text)}`);
  return { code, told, result };
}

describe("switchyard migrate check", () => {
  it("finds nothing in the way of a cluster whose specs stay, and names the command that goes back with this Helm", async () => {
    const more = [revision(1, {}), "not a release"].filter(isJsonObject);
    const withHelm3 = await check(more, "--helm-version", "v3.17.2+gcc0bbbd");
    expect([withHelm3.code, withHelm3.told]).toEqual([0, []]);
    const back =
      "helm -n sriov-network-operator upgrade sriov oci://ghcr.io/k8snetworkplumbingwg/sriov-network-operator-chart " +
      "--version 1.6.0 --reset-values -f upstream-values.yaml --take-ownership";
    expect(withHelm3.result).toMatchObject({ wayBack: back });
    const withHelm4 = await check(more, "--helm-version", "v4.1.4");
    expect(withHelm4.result).toMatchObject({ wayBack: `${back} --server-side=true --force-conflicts` });
  });

  it("says which DaemonSets restart, and how many pods they have", async () => {
    const daemonSet = {
      apiVersion: "apps/v1",
      kind: "DaemonSet",
      metadata: { name: "sriov-device-plugin", namespace },
      status: { desiredNumberScheduled: 12 },
    };
    const { result } = await check([daemonSet]);
    expect(listAt(result, "restarts")).toContain("DaemonSet sriov-device-plugin: 12 pods, a third of them at a time");
  });

  it.each([
    { helm: "v3.16.4+g7877b45", told: "stop: Helm is older than 3.17, and has no --take-ownership" },
    { helm: "v2.17.0", told: "stop: Helm is older than 3.17" },
  ])("stops with Helm $helm", async ({ helm, told }) => {
    const { code, told: all } = await check([revision(1, {})], "--helm-version", helm);
    expect([code, all]).toEqual([1, [expect.stringContaining(told)]]);
  });

  it("stops at images of upstream's programs in the values of the newest revision, also at a renamed mirror", async () => {
    const values = { images: { operator: "m/hook:1", sriovCni: "m/sriov-cni:1" } };
    const { code, told } = await check([revision(1, {}), revision(3, values), revision(2, {})]);
    expect([code, told]).toEqual([
      1,
      [expect.stringMatching(/^stop: images\.operator is set to "m\/hook:1", upstream's program\. Set it to a mirror/)],
    ]);
  });

  it("does not object to images of a release that is Switchyard's already", async () => {
    const values = { images: { operator: "mirror.example.com/switchyard-operator:1" } };
    const { code, told } = await check([revision(1, {}), revision(2, values, "switchyard")]);
    expect([code, told]).toEqual([0, []]);
  });

  it("finds upstream's program under Switchyard's Deployment", async () => {
    const deployment = {
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: { name: "sriov", namespace, labels: { "app.kubernetes.io/name": "switchyard" } },
      spec: {
        template: {
          metadata: { labels: { name: "sriov-network-operator" } },
          spec: { containers: [{ name: "sriov", image: "m.example.com/sno-operator:v1.6.0" }] },
        },
      },
    };
    const { told } = await check([deployment]);
    expect(told).toEqual([expect.stringContaining('runs the image "m.example.com/sno-operator:v1.6.0"')]);
  });

  it("names policies that no wait for Ready can end: default, and those without a NIC", async () => {
    const { code, told } = await check([policy("default"), policy("lost", { nicSelector: { pfNames: ["none0"] } })]);
    expect(code).toBe(0);
    expect(told.filter((line) => line.includes("does not become Ready"))).toEqual([
      expect.stringMatching(/SriovNetworkNodePolicy\/.*\/default has no effect with both operators/),
      expect.stringMatching(/SriovNetworkNodePolicy\/.*\/lost selects no NIC of a node/),
    ]);
  });

  it("names stored objects that violate a rule, and says that they stay", async () => {
    const { told } = await check([policy("reversed", { nicSelector: { pfNames: ["eth0#5-2"] } })]);
    expect(told.join()).toMatch(/reversed violates a rule of Switchyard's CRDs.*It stays/);
  });

  it("does not take upstream's empty objects for a difference, but names a spec that changes", async () => {
    const [first, second] = objects.filter(({ kind }) => kind === "SriovNetworkNodeState");
    const withEmpty = { ...first, spec: Object.assign({}, first?.["spec"], { bridges: {}, system: {} }) };
    const other = { ...second, spec: { interfaces: [] } };
    const { told } = await check([withEmpty, other]);
    expect(told).toEqual([expect.stringContaining("worker-2 gets another spec.interfaces")]);
  });

  it("names drains in progress", async () => {
    const states = objects.filter(({ kind }) => kind === "SriovNetworkNodeState");
    const busy = states.map((state) => {
      const metadata = Object.assign({}, state["metadata"], {
        annotations: { "sriovnetwork.openshift.io/current-state": "Draining" },
      });
      return { ...state, metadata };
    });
    const { told } = await check(busy);
    expect(told).toEqual([
      expect.stringContaining("Drains of worker-1 (Draining), worker-2 (Draining) are in progress."),
    ]);
  });

  it("ends with the reason of wrong usage for another operand", async () => {
    const { code, err } = await runCli(["migrate", "back"]);
    expect([code, err]).toEqual([64, expect.stringContaining("the operand must be check or leftovers")]);
  });

  it("prints a page for people", async () => {
    const { out } = await runCli(["migrate", "check", "-f", "-", "--helm-version", "v2.1.0"], { input: objects });
    expect(out).toContain("Correct first\n  Helm is older than 3.17");
    expect(out).toContain("1 thing stands in the way.");
  });
});
