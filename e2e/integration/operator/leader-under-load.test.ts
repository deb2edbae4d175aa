// SPDX-License-Identifier: Apache-2.0
/**
 * The operator's lease while all its other writes hang, because the API server is overloaded or a webhook does not
 * answer.
 */
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { collectionPath, connect, isRecord, type Transport } from "@switchyard/kube";
import { nodes, sriovNetworks, sriovOperatorConfigs, type ResourceType } from "@switchyard/api";
import { eventually, findWorkspaceRoot, startControlPlane, type ControlPlane } from "@switchyard/testing";
import { join } from "node:path";
import { FaultProxy } from "../../src/api/fault-proxy.ts";
import { forwardAll, type FaultRules } from "../../src/api/fault-rules.ts";
import { OperatorProcess } from "../../src/operator/operator-process.ts";

const namespace = "sriov-network-operator";

/** The operator's transport sends this many requests at the same time. */
const requestSlots = 32;

/** Longer than the renew deadline of 10 s, after which a leader gives up. */
const heldMs = 15_000;

const stack = new AsyncDisposableStack();
let cluster: ControlPlane;
let transport: Transport;
let operator: OperatorProcess;
/** How many writes got no answer. */
let hanging = 0;

const rules: FaultRules = {
  ...forwardAll,
  outcomeOf({ resource }) {
    if (resource === "leases" || resource === "events") return { isCarriedOut: true, answer: "server's" };
    hanging += 1;
    return { isCarriedOut: false, answer: "none" };
  },
};

beforeAll(async () => {
  cluster = stack.use(await startControlPlane());
  await cluster.applyCrds(join(findWorkspaceRoot(), "charts/switchyard/crds"));
  await cluster.kubectl(["create", "namespace", namespace]);
  transport = stack.use(await connect({ kubeconfig: cluster.kubeconfig }));
  const create = (type: ResourceType, object: object) =>
    transport.request({
      method: "POST",
      path: collectionPath(type, type.namespaced ? namespace : undefined),
      body: object,
    });
  const apiVersion = "sriovnetwork.openshift.io/v1";
  await create(sriovOperatorConfigs, {
    apiVersion,
    kind: "SriovOperatorConfig",
    metadata: { name: "default" },
    spec: {},
  });
  const labels = { "kubernetes.io/os": "linux", "node-role.kubernetes.io/worker": "" };
  for (let index = 0; index < requestSlots; index++) {
    await create(nodes, { apiVersion: "v1", kind: "Node", metadata: { name: `worker-${index}`, labels } });
    const spec = { resourceName: "fast" };
    await create(sriovNetworks, { apiVersion, kind: "SriovNetwork", metadata: { name: `net-${index}` }, spec });
  }
  const proxy = stack.use(await FaultProxy.before(cluster.kubeconfig, rules));
  operator = stack.use(
    await OperatorProcess.start({
      main: join(findWorkspaceRoot(), "apps/operator/src/main.ts"),
      server: proxy.url,
      namespace,
      directory: cluster.dataDir,
      flags: [],
    }),
  );
}, 600_000);

afterAll(() => stack.disposeAsync(), 60_000);

interface LeaseSpec {
  readonly holderIdentity?: string;
  readonly leaseTransitions?: number;
  readonly renewTime?: string;
}

async function readLease(): Promise<LeaseSpec> {
  const path = `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases/switchyard-operator`;
  const lease = await transport.request({ method: "GET", path });
  return isRecord(lease) && isRecord(lease["spec"]) ? lease["spec"] : {};
}

describe("a leader whose writes all hang", () => {
  it("keeps renewing its lease", async () => {
    await eventually("all request slots are taken", () => hanging >= requestSlots, { withinMs: 60_000 });
    const before = await readLease();
    const renewedMs = async () => Date.parse((await readLease()).renewTime ?? "");
    const untilMs = Date.parse(before.renewTime ?? "") + heldMs;
    await eventually("the lease is renewed", async () => (await renewedMs()) > untilMs, {
      withinMs: 60_000,
      everyMs: 500,
    });
    const { holderIdentity, leaseTransitions } = await readLease();
    expect([holderIdentity, leaseTransitions]).toEqual([before.holderIdentity, before.leaseTransitions]);
    const log = await operator.readLog();
    expect(log.filter((line) => line.includes('"msg":"started leading"'))).toHaveLength(1);
    expect(log.filter((line) => line.includes("lease request failed"))).toEqual([]);
  }, 120_000);
});
