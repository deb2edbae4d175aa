// SPDX-License-Identifier: Apache-2.0
/**
 * A change of one PF while pods have VFs of two, with all programs of Switchyard on a real API server: only the pods of that PF leave,
 * and the node stays schedulable.
 */
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import {
  annotations,
  nodes as nodeType,
  pods as podType,
  sriovNetworkNodeStates,
  type Node,
  type SriovNetworkNodeState,
} from "@switchyard/api";
import { createFakeKernel, i40e, serveFakeKernel } from "@switchyard/host/testing";
import { objectPath, watchObjects, type Cache, type KubeObject } from "@switchyard/kube";
import {
  applyPolicy,
  createOperatorConfig,
  namespace,
  policySpec,
  silentNarrator,
  startPod,
  startTestCluster,
  startVfNode,
  type TestCluster,
  type VfNode,
} from "@switchyard/test-cluster";
import { eventually } from "@switchyard/testing";

const node = "worker-1";
/** The PF that changes. */
const x = "0000:3b:00.0";
const stack = new AsyncDisposableStack();
let testCluster: TestCluster;
let vfNode: VfNode;
let pods: Cache<KubeObject & { readonly status?: { readonly phase?: string } }>;
let states: Cache<SriovNetworkNodeState>;
/** Whether the node was unschedulable at any time. */
let wasUnschedulable = false;

beforeAll(async () => {
  testCluster = stack.use(await startTestCluster(silentNarrator));
  const { transport } = testCluster;
  await createOperatorConfig(testCluster);
  const fake = createFakeKernel({ nics: [i40e(x)] });
  const bootId = await fake.host().boot.readBootId();
  const kernel = { bootId, serve: (socket: string) => serveFakeKernel(fake, socket) };
  vfNode = stack.use(await startVfNode(testCluster, { node, kernel }));
  const watching = { transport, report: () => undefined };
  pods = stack.use(watchObjects({ ...watching, type: podType, namespace: "default", project: (pod) => pod }));
  states = stack.use(
    watchObjects({
      ...watching,
      type: sriovNetworkNodeStates,
      namespace,
      project: (one: SriovNetworkNodeState) => one,
    }),
  );
  const nodes = stack.use(watchObjects({ ...watching, type: nodeType, project: (one: Node) => one }));
  nodes.subscribe(({ after }) => {
    wasUnschedulable ||= after?.spec?.unschedulable === true;
  });
  for (const [name, port] of [
    ["x", "enp59s0f0"],
    ["y", "enp59s0f1"],
  ] as const) {
    await applyPolicy(testCluster, name, policySpec({ pfNames: [port] }, { numVfs: 4, resourceName: name }));
  }
  await eventually("all VFs are offered", () => offers("x") === 4 && offers("y") === 4, { withinMs: 60_000 });
}, 600_000);

afterAll(() => stack.disposeAsync(), 60_000);

const offers = (resource: string): number => vfNode.offered.get(resource)?.length ?? 0;

/** Uids of the running pods by name. */
function running(): Readonly<Record<string, string>> {
  const found = pods.list().filter(({ status }) => status?.phase === "Running");
  const byName = found.toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
  return Object.fromEntries(byName.map(({ metadata }) => [metadata.name, metadata.uid ?? ""]));
}

function stateNow() {
  const { metadata, status } = states.get(node) ?? {};
  const { [annotations.currentState]: answer, [annotations.drainVfs]: vfs } = metadata?.annotations ?? {};
  const message = status?.conditions?.find(({ type }) => type === "DrainProgressing")?.message ?? "";
  const numVfs = status?.interfaces?.map((pf) => pf.numVfs);
  return { answer, vfs, message, numVfs };
}

/** A PodDisruptionBudget that allows nothing. No controller manager runs, so its status stays as it is. */
async function addBudget(pod: string): Promise<void> {
  const metadata = { name: pod, namespace: "default" };
  const spec = { minAvailable: "100%", selector: { matchLabels: { pod } } };
  const patch = JSON.stringify({ metadata: { labels: { pod } } });
  await testCluster.cluster.kubectl(["patch", "pod", pod, "-n", "default", "-p", patch]);
  const budget = { apiVersion: "policy/v1", kind: "PodDisruptionBudget", metadata, spec };
  await testCluster.cluster.kubectl(["apply", "-f", "-"], { input: JSON.stringify(budget) });
}

describe("a change of numVfs of one PF, while three pods have VFs of each of two PFs", () => {
  it("takes only the pods of that PF away, waits for their budgets, and leaves the node schedulable", async () => {
    const { transport } = testCluster;
    for (const name of ["x0", "x1", "x2"]) await startPod(transport, name, node, "openshift.io/x");
    for (const name of ["y0", "y1", "y2"]) await startPod(transport, name, node, "openshift.io/y");
    await startPod(transport, "plain", node, "cpu");
    await eventually("seven pods run", () => Object.keys(running()).length === 7);
    await addBudget("x1");
    const before = running();

    await applyPolicy(testCluster, "x", policySpec({ pfNames: ["enp59s0f0"] }, { numVfs: 6, resourceName: "x" }));
    await eventually("the pods without a budget are gone", () => Object.keys(running()).join() === "plain,x1,y0,y1,y2");
    await eventually("the budget is reported", () => stateNow().message.includes("default/x1 cannot be evicted now"));
    expect(stateNow()).toMatchObject({ answer: "Draining", vfs: x, numVfs: [4, 4] });
    expect([offers("x"), offers("y")]).toEqual([0, 4]);

    // The daemon is killed, and a pod of the other PF starts.
    await vfNode.daemon.kill();
    await startPod(transport, "y3", node, "openshift.io/y");
    await eventually("the new pod runs", () => running()["y3"] !== undefined);
    vfNode.startDaemon();

    await transport.request({
      method: "DELETE",
      path: objectPath(
        {
          group: "policy",
          version: "v1",
          kind: "PodDisruptionBudget",
          plural: "poddisruptionbudgets",
          namespaced: true,
        },
        { name: "x1", namespace: "default" },
      ),
    });
    await eventually("the PF has its VFs", () => offers("x") === 6, { withinMs: 60_000 });
    await eventually("the drain is over", () => stateNow().answer === "Idle");
    expect(stateNow()).toMatchObject({ vfs: undefined, numVfs: [6, 4] });
    const { x0, x1, x2, ...kept } = before;
    expect([x0, x1, x2].filter((uid) => uid === undefined)).toEqual([]);
    expect(running()).toMatchObject(kept);
    expect(Object.keys(running()).join()).toBe("plain,y0,y1,y2,y3");
    expect([wasUnschedulable, [...vfNode.sharedVfs]]).toEqual([false, []]);
  });
});
