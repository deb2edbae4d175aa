// SPDX-License-Identifier: Apache-2.0
/**
 * `helm uninstall` with hooks.giveHostsBack.enabled on a real API server: the Job runs with the rights that the chart gives it, and
 * the pods on the nodes run `config-daemon cleanup` on a fake kernel.
 */
import { afterAll, beforeAll, expect, it } from "@jest/globals";
import { sriovNetworkNodePolicies, sriovOperatorConfigs } from "@switchyard/api";
import { igb, pci } from "@switchyard/host/testing";
import { eventually } from "@switchyard/testing";
import { disposeOf } from "../src/dispose-of.ts";
import { createWorker, type FakeWorker } from "../src/nodes/fake-worker.ts";
import { startChartCluster, switchyardChart, type ChartCluster } from "../src/helm/chart-cluster.ts";
import { keepNodesReady } from "@switchyard/test-cluster";
import { upstream } from "../src/operator/upstream-cluster.ts";

const pf = pci("0000:01:00.0");
const within = { withinMs: 300_000 };
const uninstall = ["uninstall", "sriov", "--wait", "--timeout", "240s"];
const values = {
  sriovOperatorConfig: { deploy: true },
  hooks: { giveHostsBack: { enabled: true, timeoutSeconds: 120 } },
};

let place: ChartCluster;
let worker: FakeWorker;

beforeAll(async () => {
  place = await startChartCluster("helm4", { workers: true });
  const { testCluster } = place;
  worker = testCluster.use(await createWorker(testCluster, "worker-1", [igb(pf)]));
  testCluster.use(await keepNodesReady(testCluster.transport, ["worker-1"]));
});

afterAll(async () => {
  await disposeOf(place);
});

const numVfs = async (): Promise<number> => (await worker.kernel.host().sriov.readPf(pf))?.sriov?.numVfs ?? 0;
const records = async (): Promise<number> => (await worker.kernel.host().records.list()).size;
const names = async (kinds: string): Promise<string> => {
  return (await place.testCluster.kubectl(["get", kinds, "-o", "name"])).trim();
};

it("fails with the node's name if a host cannot be reset, and gives the host back when it is repeated", async () => {
  const { testCluster, helm, pods } = place;
  const notes = await helm.run(["install", "sriov", switchyardChart, "--wait", "--timeout", "180s"], values);
  expect(notes).toContain("hooks.giveHostsBack.enabled is true: helm uninstall also resets the hosts.");
  await testCluster.as(upstream.user).create(sriovNetworkNodePolicies, {
    metadata: { name: "fast" },
    spec: { resourceName: "fast", numVfs: 2, nodeSelector: {}, nicSelector: { rootDevices: [pf] } },
  });
  await eventually("the VFs", async () => (await numVfs()) === 2, within);

  const fault = worker.kernel.fault({ port: "records", method: "remove" }, { code: "EROFS" });
  const failed = await helm.try(uninstall);
  expect([failed.status, failed.stderr]).toEqual([1, expect.stringContaining("pre-delete")]);
  const job = pods.runs.findLast(({ pod }) => pod.metadata.name.includes("pre-delete-hook"));
  const log = await pods.logOf(job?.pod.metadata.name ?? "");
  expect(log).toContain("node worker-1: failed (exit code 1); pod switchyard-cleanup-worker-1 stays");
  expect(log).toContain("1 of 1 hosts were not given back: worker-1; repeat the command for them");
  // The exit status 2 is final: the Job did not try again.
  expect(job?.exits).toEqual([2]);
  expect(await testCluster.find(sriovOperatorConfigs, "default")).toBeUndefined();
  expect(await records()).toBe(1);
  expect(await names("pods,configmaps")).toContain("pod/switchyard-cleanup-worker-1");
  expect(await names("pods,configmaps")).toContain("configmap/switchyard-hosts-to-give-back");

  fault.lift();
  await helm.run(uninstall);
  expect([await numVfs(), await records()]).toEqual([0, 0]);
  expect(await names("pods,configmaps")).not.toMatch(/switchyard-/);
  expect(await names("sriovnetworknodepolicies")).toContain("fast");
});
