// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { apiVersion, type Condition, type SriovOperatorConfig } from "@switchyard/api";
import { KubeError } from "@switchyard/kube";
import { createCluster, createKeepingWriter, nic } from "../testing/cluster.ts";
import { createConfigMapReconciler } from "./config-map-reconciler.ts";
import type { ConfigMap } from "../facts/config-map-watches.ts";

const flags = '"IsRdma":false,"NeedVhostNet":false';

function setUp({ isWanted = true, refusal }: { isWanted?: boolean; refusal?: KubeError } = {}) {
  const cluster = createCluster();
  cluster.addConfig();
  const written = createKeepingWriter<ConfigMap>();
  const reported = createKeepingWriter<SriovOperatorConfig>();
  const reconcile = createConfigMapReconciler({
    ...cluster,
    namespace: "sriov-network-operator",
    isWanted,
    writer: refusal === undefined ? written.writer : { apply: () => Promise.reject(refusal) },
    statusWriter: reported.writer,
    now: () => new Date("2026-01-01T00:00:00Z"),
  });
  return {
    cluster,
    look: () => reconcile("device-plugin-config", new AbortController().signal),
    data: () => written.applied.get("device-plugin-config")?.data,
    condition: () => reported.statuses.get("default")?.conditions?.[0],
    conditions: () => reported.statuses.get("default")?.conditions,
    owners: () => written.applied.get("device-plugin-config")?.metadata.ownerReferences,
  };
}

describe("upstream's ConfigMap", () => {
  it("contains each node of the node set under its name, in upstream's format", async () => {
    const { cluster, look, data, condition, owners } = setUp();
    cluster.addNode("worker-1", { zone: "a" });
    cluster.addNode("worker-2");
    cluster.addNode("elsewhere", { "kubernetes.io/os": "windows" });
    cluster.setState("worker-1", { status: { interfaces: [nic({ altNames: ["uplink"] })] } });
    cluster.addPolicy("fast", {
      nodeSelector: { zone: "a" },
      nicSelector: { vendor: "8086", deviceID: "158b", pfNames: ["uplink#0-1"] },
    });
    await look();
    expect(data()).toEqual({
      "worker-1":
        '{"resourceList":[{"resourceName":"fast","selectors":{"vendors":["8086"],"devices":["154c"],' +
        `"pfNames":["ens1f0#0-1"],${flags}},"SelectorObj":null}]}`,
      "worker-2": '{"resourceList":null}',
    });
    expect(condition()).toMatchObject({ type: "DevicePluginConfigMap", status: "True", reason: "Written" });
    expect(owners()).toMatchObject([{ kind: "SriovOperatorConfig", name: "default", controller: true }]);
  });

  it("follows policies, labels, NICs and the list of supported NICs, and drops nodes that are gone", async () => {
    const { cluster, look, data } = setUp();
    const policy = (resourceName: string, deviceID = "158b") => {
      const nicSelector = { vendor: "8086", deviceID, pfNames: ["uplink"] };
      cluster.addPolicy("fast", { resourceName, nodeSelector: { zone: "a" }, nicSelector });
    };
    const text = (resourceName: string, device: string, pf: string) =>
      `{"resourceList":[{"resourceName":"${resourceName}","selectors":{"vendors":["8086"],"devices":["${device}"],` +
      `"pfNames":["${pf}"],${flags}},"SelectorObj":null}]}`;
    cluster.addNode("worker-1");
    cluster.addNode("worker-2", { zone: "a" });
    policy("one");
    await look();
    expect(data()).toEqual({ "worker-1": '{"resourceList":null}', "worker-2": text("one", "154c", "uplink") });
    cluster.setState("worker-2", { status: { interfaces: [nic({ altNames: ["uplink"] })] } });
    await look();
    expect(data()?.["worker-2"]).toBe(text("one", "154c", "ens1f0"));
    policy("two");
    await look();
    expect(data()?.["worker-2"]).toBe(text("two", "154c", "ens1f0"));
    policy("two", "fa57");
    cluster.setNicList(["8086 fa57 1889"]);
    await look();
    expect(data()?.["worker-2"]).toBe(text("two", "1889", "ens1f0"));
    cluster.addNode("worker-1", { zone: "a" });
    cluster.removeNode("worker-2");
    await look();
    expect(data()).toEqual({ "worker-1": text("two", "1889", "uplink") });
  });

  it("reports what the plugin cannot select, once for all nodes, and writes the rest (sriov-operator.md M-7, M-43)", async () => {
    const { cluster, look, data, condition } = setUp();
    for (const node of ["worker-1", "worker-2"]) cluster.addNode(node);
    cluster.addPolicy("p", { resourceName: "fast", nicSelector: { pfNames: ["ens1f0"] } });
    cluster.addPolicy("q", { resourceName: "fast", nicSelector: { rootDevices: ["0000:86:00.0"] } });
    await look();
    expect(Object.keys(data() ?? {})).toEqual(["worker-1", "worker-2"]);
    expect(condition()).toMatchObject({ status: "False", reason: "NotPossible" });
    expect(condition()?.message).toMatch(
      /^fast: policies p, q select by different fields: .* \(worker-1 and 1 more\)$/,
    );
  });

  it("is not sent if it exceeds the API server's limit, which is reported (sriov-operator.md M-8)", async () => {
    const { cluster, look, data, condition } = setUp();
    const pfNames = Array.from({ length: 100 }, (_, port) => `a-rather-long-name-${port}`);
    cluster.addPolicy("fast", { nicSelector: { pfNames } });
    for (let count = 1; count <= 500; count++) cluster.addNode(`worker-${count}`);
    await look();
    expect(data()).toBeUndefined();
    expect(condition()).toMatchObject({ status: "False", reason: "TooLarge" });
    expect(condition()?.message).toMatch(
      /^ConfigMap device-plugin-config would have \d{7} bytes for 500 nodes, more than the limit of 1048576 bytes; it is not updated/,
    );
    for (let count = 101; count <= 500; count++) cluster.removeNode(`worker-${count}`);
    await look();
    expect(Object.keys(data() ?? {})).toHaveLength(100);
    expect(condition()?.status).toBe("True");
  });

  it("is retried after a refusal, which is reported with the API server's message", async () => {
    const refusal = new KubeError("apply device-plugin-config", "Forbidden", { words: "not allowed" });
    const { cluster, look, condition } = setUp({ refusal });
    cluster.addNode("worker-1");
    await expect(look()).rejects.toBe(refusal);
    expect(condition()).toMatchObject({ status: "False", reason: "Refused", message: refusal.message });
  });

  it("has no condition if it is not requested", async () => {
    const { cluster, look, data, conditions } = setUp({ isWanted: false });
    await look();
    expect([data(), conditions()]).toEqual([undefined, undefined]);
    const old: Condition = {
      type: "DevicePluginConfigMap",
      status: "True",
      reason: "Written",
      message: "2 nodes",
      lastTransitionTime: "2026-01-01T00:00:00Z",
    };
    const config: SriovOperatorConfig = {
      apiVersion,
      kind: "SriovOperatorConfig",
      metadata: { name: "default", namespace: "sriov-network-operator", uid: "1", resourceVersion: "999" },
      status: { conditions: [old] },
    };
    cluster.operatorConfigs.upsert(config);
    await look();
    expect([data(), conditions()]).toEqual([undefined, []]);
  });
});
