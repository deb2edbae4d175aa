// SPDX-License-Identifier: Apache-2.0
/** The status of a pool counts the pods on its hosts that cannot start, because they have no network with a VF. */
import { afterAll, beforeAll, expect, it } from "@jest/globals";
import { namespace } from "@switchyard/test-cluster";
import { eventually } from "@switchyard/testing";
import { disposeOf } from "../src/dispose-of.ts";
import { fieldAt } from "../src/api/plain-api.ts";
import { settledWithinMs } from "./offload-cluster.ts";
import { startSimulatedCluster, type SimulatedOffloadCluster } from "./simulated-cluster.ts";

const podsPath = `/api/v1/namespaces/${namespace}/pods`;
const configPath = `/apis/sriovnetwork.openshift.io/v1/namespaces/${namespace}/sriovoperatorconfigs/default`;

let simulated: SimulatedOffloadCluster;

beforeAll(async () => {
  simulated = await startSimulatedCluster(["host-1"]);
}, 600_000);

afterAll(async () => {
  await disposeOf(simulated);
}, 120_000);

/** Creates a pod that has not been ready since the host booted. */
async function createPod(
  name: string,
  nodeName: string,
  annotations: Readonly<Record<string, string>> = {},
): Promise<void> {
  const { create, patch } = simulated.place.api;
  const spec = { nodeName, automountServiceAccountToken: false, containers: [{ name: "a", image: "example.com/a" }] };
  await create(podsPath, { apiVersion: "v1", kind: "Pod", metadata: { name, namespace, annotations }, spec });
  const condition = { type: "Ready", status: "False", lastTransitionTime: "2026-01-01T00:00:00Z" };
  await patch(`${podsPath}/${name}/status`, { status: { phase: "Running", conditions: [condition] } });
}

async function podsWaiting(): Promise<unknown> {
  const pool = fieldAt(await simulated.place.api.read(configPath), "status", "ovnHardwareOffload", 0);
  const conditions = fieldAt(pool, "conditions");
  const found = (Array.isArray(conditions) ? (conditions as readonly unknown[]) : []).find((condition) => {
    return fieldAt(condition, "type") === "PodsWaiting";
  });
  return [fieldAt(pool, "waitingPodCount"), fieldAt(found, "status"), fieldAt(found, "message")];
}

it("counts them and names them, until they are gone", async () => {
  await createPod("canary", "host-1");
  await createPod("with-vf", "host-1", { "v1.multus-cni.io/default-network": "default/vf" });
  await createPod("elsewhere", "worker-0");
  await simulated.wayIn();
  const is = (expected: readonly unknown[]) => async () => {
    expect(await podsWaiting()).toEqual(expected);
    return true;
  };
  const message = `pods cannot start, because they have no network with a VF as default network: ${namespace}/canary`;
  await eventually("the pod is counted", is([1, "True", message]), { withinMs: settledWithinMs });
  expect(await simulated.place.overall()).toContain("True Ready");
  const now = { apiVersion: "v1", kind: "DeleteOptions", gracePeriodSeconds: 0 };
  await simulated.place.testCluster.transport.request({ method: "DELETE", path: `${podsPath}/canary`, body: now });
  await eventually("no pod is counted", is([undefined, "False", "no pod waits"]), { withinMs: 2 * settledWithinMs });
});
