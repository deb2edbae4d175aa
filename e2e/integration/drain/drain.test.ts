// SPDX-License-Identifier: Apache-2.0
/**
 * Drains on a real API server with a controller manager: the order of the drains, the pods that are evicted, and what
 * is left behind. The test plays the nodes' kubelets and daemons.
 */
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { annotations, nodes as nodeType, pods as podType, sriovNetworkNodeStates, taints } from "@switchyard/api";
import { objectPath } from "@switchyard/kube";
import { createFakeKernel, igb, pci, serveFakeKernel } from "@switchyard/host/testing";
import { eventually, findWorkspaceRoot, spawnGuarded, type GuardedProcess } from "@switchyard/testing";
import { join } from "node:path";
import { allocateClaim, deviceClaim, publishDevices } from "../../src/nodes/device-claims.ts";
import { appsNamespace, run, startDrainCluster, type DrainCluster } from "./drain-cluster.ts";
import { componentSettings } from "../../src/operator/identity-objects.ts";

/** Label of nodes in a pool without a limit: they do not wait for other nodes. */
const unlimited = { pool: "unlimited" };
const vf = { "openshift.io/fast": "1" };
let testCluster: DrainCluster;

beforeAll(async () => {
  testCluster = await startDrainCluster();
  await testCluster.addPool("unlimited", { nodeSelector: { matchLabels: unlimited } });
}, 600_000);

afterAll(async () => {
  await testCluster[Symbol.asyncDispose]();
}, 60_000);

function isUnschedulable(name: string): boolean {
  return testCluster.nodes.get(name)?.spec?.unschedulable === true;
}

function hasPod(name: string): boolean {
  return testCluster.pods.get(name) !== undefined;
}

/** A PodDisruptionBudget that allows no eviction of the pods with this label. */
function budget(name: string): object {
  return {
    apiVersion: "policy/v1",
    kind: "PodDisruptionBudget",
    metadata: { name, namespace: appsNamespace },
    spec: { minAvailable: "100%", selector: { matchLabels: { app: name } } },
  };
}

/** Adds a pod with a budget that protects it, and waits until the budget's controller has counted it. */
async function addProtectedPod(name: string, node: string): Promise<void> {
  await testCluster.addPod(name, { node, requests: vf, labels: { app: name } });
  await testCluster.apply(budget(name));
  await eventually("the budget counts the pod", async () => {
    const path = ["get", "pdb", name, "-n", appsNamespace, "-o", "jsonpath={.status.currentHealthy}"];
    return (await testCluster.cluster.kubectl(path)) === "1";
  });
}

async function dropBudget(name: string): Promise<void> {
  await testCluster.cluster.kubectl(["delete", "pdb", name, "-n", appsNamespace]);
}

describe("nodes in no pool", () => {
  it("are drained one at a time in the order of their requests, and each reports why it waits", async () => {
    const names = ["one", "two", "three"];
    for (const name of names) await testCluster.addNode(name);
    await addProtectedPod("web", "three");
    await testCluster.addPod("idle", { node: "three" });

    await testCluster.ask("three", "Drain_Required");
    await eventually("the budget is named", () =>
      testCluster.condition("three", "DrainProgressing").includes("budget web"),
    );
    expect(testCluster.condition("three", "DrainProgressing")).toMatch(
      /^True EvictingPods: 1 pod left: apps\/web cannot be evicted now: The disruption budget web /,
    );
    expect(isUnschedulable("three")).toBe(true);

    await testCluster.ask("two", "Drain_Required");
    const waits = "False WaitingForSlot: waiting for a free slot in the default pool: 1 of 1 draining (three), ";
    await eventually("two waits", () => testCluster.condition("two", "DrainProgressing") === `${waits}next in line`);
    const since = testCluster.states.get("two")?.status?.conditions?.[0]?.lastTransitionTime ?? "";
    // Conditions have times in whole seconds, by the clock of the API server, which its responses show in whole seconds.
    await eventually("two seconds later", () => Date.now() >= Date.parse(since) + 2_000);
    await testCluster.ask("one", "Reboot_Required");
    await eventually("one waits", () => testCluster.condition("one", "DrainProgressing") === `${waits}1 node ahead`);
    const table = await testCluster.cluster.kubectl([
      "get",
      "sriovnetworknodestate",
      "one",
      "-o",
      "wide",
      "-n",
      componentSettings.namespace,
    ]);
    expect(table).toContain("waiting for a free slot in the default pool: 1 of 1 draining (three), 1 node ahead");

    await dropBudget("web");
    await testCluster.answered("three", "DrainComplete");
    expect([hasPod("web"), hasPod("idle")]).toEqual([false, true]);
    expect(testCluster.condition("three", "DrainComplete")).toBe(
      "True VfPodsGone: all evictable pods that use VFs are gone",
    );
    expect([isUnschedulable("three"), isUnschedulable("two")]).toEqual([true, false]);

    await testCluster.ask("three", "Idle");
    await testCluster.answered("three", "Idle");
    expect(isUnschedulable("three")).toBe(false);
    await testCluster.answered("two", "DrainComplete");
    await testCluster.ask("two", "Idle");
    await testCluster.answered("one", "DrainComplete");
    await testCluster.ask("one", "Idle");
    await testCluster.answered("one", "Idle");
    await eventually("nothing is left", () =>
      names.every((name) => testCluster.condition(name, "DrainProgressing") === ""),
    );

    const reasons = await testCluster.cluster.kubectl(["get", "events", "-A", "-o", "jsonpath={.items[*].reason}"]);
    for (const reason of ["DrainStarted", "DrainCompleted", "DrainReleased"]) expect(reasons).toContain(reason);
    const described = await testCluster.cluster.kubectl(["describe", "node", "three"]);
    expect(described).toMatch(/DrainReleased .*\(SriovNetworkNodeState .*\/three\)/);
    await testCluster.removeNodes(...names);
  });
});

describe("a drained node", () => {
  it("loses pods in which only an init container uses VFs (sriov-operator.md M-13)", async () => {
    await testCluster.addNode("init", unlimited);
    await testCluster.addPod("init-holder", { node: "init", initRequests: vf });
    await testCluster.addPod("bystander", { node: "init" });
    await testCluster.ask("init", "Drain_Required");
    await testCluster.answered("init", "DrainComplete");
    expect([hasPod("init-holder"), hasPod("bystander")]).toEqual([false, true]);
    await testCluster.ask("init", "Idle");
    await testCluster.answered("init", "Idle");
    await testCluster.removeNodes("init");
  });

  it("stays unschedulable afterwards if an administrator had cordoned it (sriov-operator.md M-13)", async () => {
    await testCluster.addNode("cordoned", unlimited);
    await testCluster.cluster.kubectl(["cordon", "cordoned"]);
    await testCluster.ask("cordoned", "Drain_Required");
    await testCluster.answered("cordoned", "DrainComplete");
    await testCluster.ask("cordoned", "Idle");
    await testCluster.answered("cordoned", "Idle");
    expect(isUnschedulable("cordoned")).toBe(true);
    await testCluster.removeNodes("cordoned");
  });

  it("is released at once when the daemon withdraws its request during the drain (sriov-operator.md M-52)", async () => {
    await testCluster.addNode("stuck", unlimited);
    await addProtectedPod("db", "stuck");
    await testCluster.ask("stuck", "Drain_Required");
    await eventually("stuck", () => testCluster.condition("stuck", "DrainProgressing").includes("budget db"));
    await testCluster.ask("stuck", "Idle");
    await testCluster.answered("stuck", "Idle");
    await eventually("schedulable", () => !isUnschedulable("stuck"));
    expect(hasPod("db")).toBe(true);
    await dropBudget("db");
    await testCluster.removeNodes("stuck");
  });

  it("loses all pods when its daemon requests a reboot after a partial drain", async () => {
    await testCluster.addNode("other", unlimited);
    await testCluster.addNode("escalates", unlimited);
    await testCluster.addPod("plain", { node: "escalates" });
    await testCluster.ask("escalates", "Drain_Required");
    await testCluster.answered("escalates", "DrainComplete");
    expect(hasPod("plain")).toBe(true);
    await testCluster.ask("escalates", "Reboot_Required");
    await eventually("the pod goes", () => !hasPod("plain"));
    await testCluster.answered("escalates", "DrainComplete");
    expect(testCluster.condition("escalates", "DrainComplete")).toContain("AllPodsGone");
    await testCluster.ask("escalates", "Idle");
    await testCluster.answered("escalates", "Idle");
    await testCluster.removeNodes("other", "escalates");
  });

  it("gets no new DaemonSet pods that use VFs before the drain ends", async () => {
    await testCluster.addNode("daemons", { ...unlimited, role: "vnf" });
    const template = {
      metadata: { labels: { app: "vnf" } },
      spec: {
        nodeSelector: { role: "vnf" },
        containers: [{ name: "main", image: "example.com/none:1", resources: { requests: vf, limits: vf } }],
      },
    };
    await testCluster.apply({
      apiVersion: "apps/v1",
      kind: "DaemonSet",
      metadata: { name: "vnf", namespace: appsNamespace },
      spec: { selector: { matchLabels: { app: "vnf" } }, template },
    });
    const podsOfSet = () => testCluster.pods.list().filter(({ metadata }) => metadata.labels?.["app"] === "vnf");
    const first = await eventually("the DaemonSet's pod", () => podsOfSet()[0]);
    const { name } = first.metadata;
    await testCluster.transport.request({
      method: "POST",
      path: objectPath(podType, { name, namespace: appsNamespace }, "binding"),
      body: { apiVersion: "v1", kind: "Binding", metadata: { name }, target: { kind: "Node", name: "daemons" } },
    });
    await run(testCluster.transport, { name, namespace: appsNamespace });

    await testCluster.ask("daemons", "Drain_Required");
    await testCluster.answered("daemons", "DrainComplete");
    expect(podsOfSet()).toEqual([]);
    expect(testCluster.nodes.get("daemons")?.spec?.taints).toContainEqual({
      key: taints.draining,
      effect: "NoSchedule",
    });
    await testCluster.ask("daemons", "Idle");
    await eventually("the DaemonSet creates the pod again", () => podsOfSet().length === 1);
    const marks = [annotations.cordonedBy, taints.draining];
    expect(marks.filter((mark) => JSON.stringify(testCluster.nodes.get("daemons")).includes(mark))).toEqual([]);
    await testCluster.cluster.kubectl(["delete", "daemonset", "vnf", "-n", appsNamespace]);
    await testCluster.removeNodes("daemons");
  });

  it("names the pod that two budgets protect, which the API server never evicts, and continues without them", async () => {
    await testCluster.addNode("twice", unlimited);
    await addProtectedPod("twice-held", "twice");
    const second = { ...budget("twice-held"), metadata: { name: "second", namespace: appsNamespace } };
    await testCluster.apply({
      ...second,
      spec: { maxUnavailable: 1, selector: { matchLabels: { app: "twice-held" } } },
    });
    await testCluster.ask("twice", "Drain_Required");
    const says = /1 pod left: apps\/twice-held cannot be evicted now: .* more than one PodDisruptionBudget/;
    await eventually("the condition names both budgets", () =>
      says.test(testCluster.condition("twice", "DrainProgressing")),
    );
    for (const name of ["second", "twice-held"]) await dropBudget(name);
    await testCluster.answered("twice", "DrainComplete");
    await testCluster.ask("twice", "Idle");
    await testCluster.answered("twice", "Idle");
    await testCluster.removeNodes("twice");
  });

  it("is left to an external drainer from the request to the release", async () => {
    await testCluster.addNode("external", unlimited);
    const { useExternalDrainer, currentState } = annotations;
    const place = ["sriovnetworknodestate", "external", "-n", componentSettings.namespace];
    const write = (note: string) => testCluster.cluster.kubectl(["annotate", "--overwrite", ...place, note]);
    const begin = testCluster.answers.length;
    await write(`${useExternalDrainer}=true`);
    await testCluster.ask("external", "Drain_Required");
    await testCluster.addNode("ours", unlimited);
    await testCluster.ask("ours", "Drain_Required");
    await testCluster.answered("ours", "DrainComplete"); // by now the operator would have admitted the node "external"
    expect([testCluster.answerOf("external"), isUnschedulable("external")]).toEqual(["Idle", false]);

    await testCluster.cluster.kubectl(["cordon", "external"]);
    await write(`${currentState}=Draining`);
    await write(`${currentState}=DrainComplete`);
    await testCluster.ask("external", "Idle");
    await testCluster.ask("ours", "Idle");
    await testCluster.answered("ours", "Idle"); // by now the operator would have released the node "external"
    expect([testCluster.answerOf("external"), isUnschedulable("external")]).toEqual(["DrainComplete", true]);
    await write(`${currentState}=Idle`);
    await testCluster.answered("external", "Idle");
    const answers = testCluster.answers.slice(begin).filter(({ node }) => node === "external");
    expect(answers.map(({ answer }) => answer)).toEqual(["Draining", "DrainComplete", "Idle"]);
    expect([isUnschedulable("external"), testCluster.condition("external", "DrainProgressing")]).toEqual([true, ""]);
    await testCluster.removeNodes("external", "ours");
  });

  it("is drained completely and becomes schedulable if the operator is killed twice during the drain", async () => {
    await testCluster.addNode("survivor", unlimited);
    await addProtectedPod("slow", "survivor");
    await testCluster.ask("survivor", "Drain_Required");
    await eventually("unschedulable", () => isUnschedulable("survivor"));
    await testCluster.killOperator();
    await testCluster.startOperator();
    await eventually("blocked", () => testCluster.condition("survivor", "DrainProgressing").includes("budget slow"));
    await testCluster.killOperator();
    await dropBudget("slow");
    await testCluster.startOperator();
    await testCluster.answered("survivor", "DrainComplete");
    expect(hasPod("slow")).toBe(false);
    await testCluster.ask("survivor", "Idle");
    await testCluster.answered("survivor", "Idle");
    expect(isUnschedulable("survivor")).toBe(false);
    await testCluster.removeNodes("survivor");
  });
});

describe("a node with a DRA driver", () => {
  const [nics, gpus] = ["nics.example.com", "gpus.example.com"];

  /** Adds a pod and allocates a device to its claim, as the scheduler does. */
  async function addClaimant(name: string, node: string, driver: string, device: string): Promise<void> {
    const claim = { name, namespace: appsNamespace };
    await testCluster.apply(deviceClaim(claim));
    await testCluster.addPod(name, { node, claim: name });
    const { uid = "" } = (await eventually(name, () => testCluster.pods.get(name))).metadata;
    await allocateClaim(testCluster.transport, { claim, driver, pool: node, device, pod: { name, uid } });
  }

  /** Adds a node with the report of its daemon: a PF with a VF, and another PF. */
  async function addNode(node: string): Promise<void> {
    await testCluster.addNode(node, unlimited);
    const pf = { pciAddress: "0000:3b:00.0", numVfs: 1, Vfs: [{ pciAddress: "0000:3b:02.0", vfID: 0 }] };
    await testCluster.transport.request({
      method: "PATCH",
      path: objectPath(sriovNetworkNodeStates, { name: node, namespace: componentSettings.namespace }, "status"),
      contentType: "application/merge-patch+json",
      body: { status: { interfaces: [pf, { pciAddress: "0000:01:00.0" }] } },
    });
  }

  it("loses the pods to which its VFs are allocated, and no others", async () => {
    await addNode("dra");
    await publishDevices(testCluster.apply, {
      driver: nics,
      node: "dra",
      devices: {
        "vf-0": { "resource.kubernetes.io/pciBusID": "0000:3b:02.0" },
        "vf-of-pf": { pciAddress: "0000:3b:02.1", pfPciAddress: "0000:3b:00.0" },
        "foreign-port": { pciAddress: "0000:01:00.0" },
      },
    });
    const gpu = { "resource.kubernetes.io/pciBusID": "0000:99:00.0" };
    await publishDevices(testCluster.apply, { driver: gpus, node: "dra", devices: { "gpu-0": gpu } });
    await addClaimant("by-address", "dra", nics, "vf-0");
    await addClaimant("by-attribute-of-its-own", "dra", nics, "vf-of-pf");
    await addClaimant("foreign", "dra", nics, "foreign-port");
    await addClaimant("gpu", "dra", gpus, "gpu-0");
    await testCluster.addPod("no-claim", { node: "dra" });
    await addExtended("extended", "dra");

    await testCluster.ask("dra", "Drain_Required");
    await testCluster.answered("dra", "DrainComplete");
    const left = ["by-address", "by-attribute-of-its-own", "extended", "foreign", "gpu", "no-claim"].filter(hasPod);
    expect(left).toEqual(["foreign", "gpu", "no-claim"]);
    await testCluster.ask("dra", "Idle");
    await testCluster.answered("dra", "Idle");
    await testCluster.removeNodes("dra");
  });

  it("loses pods whose devices are no longer published, if their driver publishes NICs on another node", async () => {
    await addNode("dra-a");
    await addNode("dra-b");
    const vf = { "vf-0": { "resource.kubernetes.io/pciBusID": "0000:3b:02.0" } };
    await publishDevices(testCluster.apply, { driver: nics, node: "dra-b", devices: vf });
    await addClaimant("in-doubt", "dra-a", nics, "vf-0");
    await addClaimant("gpu-in-doubt", "dra-a", gpus, "gpu-0");
    await testCluster.ask("dra-a", "Drain_Required");
    await testCluster.answered("dra-a", "DrainComplete");
    expect(["in-doubt", "gpu-in-doubt"].filter(hasPod)).toEqual(["gpu-in-doubt"]);
    await testCluster.ask("dra-a", "Idle");
    await testCluster.answered("dra-a", "Idle");
    await testCluster.removeNodes("dra-a", "dra-b");
  });

  /** Adds a pod whose extended resource the scheduler has allocated with a claim that it created itself. */
  async function addExtended(name: string, node: string): Promise<void> {
    const claim = { name: `${name}-extended-resources`, namespace: appsNamespace };
    await testCluster.apply(deviceClaim(claim));
    await testCluster.addPod(name, { node, requests: { "example.com/nic": "1" } });
    const { uid = "" } = (await eventually(name, () => testCluster.pods.get(name))).metadata;
    await allocateClaim(testCluster.transport, { claim, driver: nics, pool: node, device: "vf-0", pod: { name, uid } });
    const requestMappings = [{ containerName: "main", resourceName: "example.com/nic", requestName: "nic" }];
    await testCluster.transport.request({
      method: "PATCH",
      path: objectPath(podType, { name, namespace: appsNamespace }, "status"),
      contentType: "application/merge-patch+json",
      body: { status: { extendedResourceClaimStatus: { resourceClaimName: claim.name, requestMappings } } },
    });
  }
});

describe("a pool", () => {
  it("with maxUnavailable 0 blocks all drains and reports it (sriov-operator.md M-33)", async () => {
    await testCluster.addPool("held", { nodeSelector: { matchLabels: { pool: "held" } }, maxUnavailable: 0 });
    await testCluster.addNode("held-1", { pool: "held" });
    await testCluster.ask("held-1", "Drain_Required");
    const says = 'False HeldByPool: pool "held" allows no drains: its maxUnavailable is 0';
    await eventually("held", () => testCluster.condition("held-1", "DrainProgressing") === says);
    await testCluster.addPool("held", { nodeSelector: { matchLabels: { pool: "held" } }, maxUnavailable: 1 });
    await testCluster.answered("held-1", "DrainComplete");
    await testCluster.ask("held-1", "Idle");
    await testCluster.answered("held-1", "Idle");
    await testCluster.removeNodes("held-1");
  });
});

describe("a drained node whose daemon has stalled", () => {
  const long = 6 * 60_000;

  /** Makes the drain appear minutes old, with a new operator. */
  async function backdate(node: string): Promise<void> {
    await testCluster.killOperator();
    const { conditions = [] } = testCluster.states.get(node)?.status ?? {};
    const lastTransitionTime = new Date(Date.now() - long).toISOString();
    await testCluster.transport.request({
      method: "PATCH",
      path: objectPath(sriovNetworkNodeStates, { name: node, namespace: componentSettings.namespace }, "status"),
      contentType: "application/merge-patch+json",
      body: { status: { conditions: conditions.map((condition) => ({ ...condition, lastTransitionTime })) } },
    });
    await testCluster.startOperator();
  }

  const read = async (kind: string, name: string, path: string) => {
    const place = ["get", kind, name, "-n", componentSettings.namespace];
    return testCluster.cluster.kubectl([...place, "-o", `jsonpath=${path}`]);
  };
  const degraded = '{.status.conditions[?(@.type=="Degraded")].reason}';

  it("is named by its pool as the holder of the slot, and the pool is Degraded after minutes", async () => {
    await testCluster.addPool("stalls", { nodeSelector: { matchLabels: { pool: "stalls" } }, maxUnavailable: 1 });
    for (const name of ["dead", "waits"]) await testCluster.addNode(name, { pool: "stalls" });
    await testCluster.ask("dead", "Drain_Required");
    await testCluster.answered("dead", "DrainComplete");
    const holders = () => read("sriovnetworkpoolconfig", "stalls", "{.status.drainingNodes[*].node}");
    await eventually("the pool names the node", async () => (await holders()) === "dead");
    expect(await read("sriovnetworkpoolconfig", "stalls", degraded)).not.toBe("DaemonStalled");

    await backdate("dead");
    await eventually("the pool is Degraded", async () => {
      return (await read("sriovnetworkpoolconfig", "stalls", degraded)) === "DaemonStalled";
    });
    const says =
      /^True DaemonStalled: node dead has been drained since .* its config daemon has reported nothing since then/;
    await eventually("the node state is DrainDegraded", () =>
      says.test(testCluster.condition("dead", "DrainDegraded")),
    );
    await testCluster.ask("waits", "Drain_Required");
    await eventually("it waits", () =>
      testCluster.condition("waits", "DrainProgressing").includes("1 of 1 draining (dead)"),
    );
    expect(testCluster.answerOf("dead")).toBe("DrainComplete"); // its VFs may be half configured

    await testCluster.ask("dead", "Idle");
    await testCluster.answered("waits", "DrainComplete");
    await eventually("the next node holds the slot", async () => (await holders()) === "waits");
    expect(await read("sriovnetworkpoolconfig", "stalls", degraded)).not.toBe("DaemonStalled");
    await testCluster.ask("waits", "Idle");
    await testCluster.answered("waits", "Idle");
    await testCluster.removeNodes("dead", "waits");
  });

  it("is named by the SriovOperatorConfig if it is in no pool", async () => {
    const message = '{.status.conditions[?(@.type=="DrainDegraded")].message}';
    const said = () => read("sriovoperatorconfig", "default", message);
    await testCluster.addNode("alone");
    await testCluster.ask("alone", "Drain_Required");
    await testCluster.answered("alone", "DrainComplete");
    await eventually("the config names the node", async () =>
      (await said()).includes("node alone holds the drain slot, DrainComplete"),
    );
    await backdate("alone");
    await eventually("the config reports the stalled daemon", async () =>
      (await said()).includes("its config daemon has reported nothing"),
    );
    await testCluster.ask("alone", "Idle");
    await eventually("nothing is left", async () => (await said()) === "");
    await testCluster.removeNodes("alone");
  });
});

describe("a node that is deleted during its drain", () => {
  it("frees its slot", async () => {
    await testCluster.addPool("pair", { nodeSelector: { matchLabels: { pool: "pair" } }, maxUnavailable: 1 });
    await testCluster.addNode("leaves", { pool: "pair" });
    await testCluster.addNode("next", { pool: "pair" });
    await addProtectedPod("left", "leaves");
    await testCluster.ask("leaves", "Drain_Required");
    await testCluster.answered("leaves", "Draining");
    await testCluster.ask("next", "Drain_Required");
    await eventually("next waits", () => testCluster.condition("next", "DrainProgressing").includes("(leaves)"));
    await testCluster.transport.request({ method: "DELETE", path: objectPath(nodeType, { name: "leaves" }) });
    await testCluster.answered("next", "DrainComplete");
    await testCluster.ask("next", "Idle");
    await testCluster.answered("next", "Idle");
  });

  it("is not drained after it joins again until it requests a drain again", async () => {
    const { desiredState, currentState } = annotations;
    await eventually("no drain is requested", () => {
      const { metadata } = testCluster.states.get("leaves") ?? {};
      const handshake = [desiredState, currentState].map((key) => metadata?.annotations?.[key]);
      return handshake.every((word) => word === "Idle") && testCluster.condition("leaves", "DrainProgressing") === "";
    });
    const begin = testCluster.answers.length;
    await testCluster.addNode("leaves", { pool: "pair" });
    await testCluster.ask("next", "Drain_Required");
    await testCluster.answered("next", "DrainComplete"); // by now the operator would have drained the node "leaves"
    const answers = testCluster.answers.slice(begin).map(({ node, answer }) => `${node} ${answer}`);
    expect([answers, isUnschedulable("leaves")]).toEqual([["next Draining", "next DrainComplete"], false]);
    await testCluster.ask("next", "Idle");
    await testCluster.answered("next", "Idle");
    await testCluster.removeNodes("leaves", "next");
  });
});

/** A node with a real daemon on a fake kernel with one PF, and the policy for that PF. */
interface RealNode {
  readonly name: string;
  /** Sets numVfs of the policy. */
  request(numVfs: number): Promise<void>;
  vfCount(): Promise<number | undefined>;
  /** Reports whether the daemon has applied the spec of the node state. */
  isDone(): boolean;
  startDaemon(): void;
  killDaemon(): Promise<void>;
}

async function startRealNode(name: string, stack: AsyncDisposableStack): Promise<RealNode> {
  const pf = pci("0000:01:00.0");
  const kernel = createFakeKernel({ nics: [igb("0000:01:00.0")] });
  const socket = join(testCluster.cluster.dataDir, `${name}.sock`);
  stack.use(await serveFakeKernel(kernel, socket));
  await testCluster.addNode(name, { pool: name, "kubernetes.io/hostname": name });
  const program = join(findWorkspaceRoot(), "apps/config-daemon/src/testing/fake-node.ts");
  const place = ["--kubeconfig", testCluster.cluster.kubeconfig, "--namespace", componentSettings.namespace];
  const args = [program, ...place, "--node-name", name, "--kernel-socket", socket];
  let daemon: GuardedProcess | undefined;
  const node: RealNode = {
    name,
    request: (numVfs) =>
      testCluster.apply({
        apiVersion: "sriovnetwork.openshift.io/v1",
        kind: "SriovNetworkNodePolicy",
        metadata: { name, namespace: componentSettings.namespace },
        spec: {
          nodeSelector: { "kubernetes.io/hostname": name },
          nicSelector: { rootDevices: [pf] },
          resourceName: "fast",
          numVfs,
        },
      }),
    vfCount: async () => (await kernel.host().sriov.readPf(pf))?.sriov?.vfs.length,
    isDone() {
      const { status, metadata } = testCluster.states.get(name) ?? {};
      return status?.syncStatus === "Succeeded" && status.observedGeneration === metadata?.generation;
    },
    startDaemon() {
      daemon = spawnGuarded(process.execPath, args, { log: join(testCluster.cluster.dataDir, `${name}.log`) });
    },
    async killDaemon() {
      await daemon?.kill();
      daemon = undefined;
    },
  };
  stack.defer(() => node.killDaemon());
  node.startDaemon();
  return node;
}

describe("operator and daemon together", () => {
  it("change a node's VFs after its pods are gone, and change nothing if the policy is reverted before that", async () => {
    await using stack = new AsyncDisposableStack();
    const setLimit = (maxUnavailable: number) =>
      testCluster.addPool("real", { nodeSelector: { matchLabels: { pool: "real" } }, maxUnavailable });
    await setLimit(0);
    const node = await startRealNode("real", stack);
    const { vfCount, isDone } = node;
    await node.request(2); // creating the first VFs disrupts no pod, so no drain is needed
    await eventually("2 VFs", async () => (await vfCount()) === 2 && isDone());
    await addProtectedPod("vnf", "real");
    const begin = testCluster.answers.length;
    const answers = () =>
      testCluster.answers
        .slice(begin)
        .filter(({ node }) => node === "real")
        .map(({ answer }) => answer);

    await node.request(4);
    await eventually("it waits", () =>
      testCluster.condition("real", "DrainProgressing").startsWith("False HeldByPool"),
    );
    await node.request(2);
    await eventually(
      "the daemon has withdrawn its request",
      () => testCluster.condition("real", "DrainProgressing") === "" && isDone(),
    );
    await setLimit(1);
    expect([await vfCount(), hasPod("vnf"), isUnschedulable("real"), answers()]).toEqual([2, true, false, []]);

    await node.request(4);
    await eventually("the budget holds", () =>
      testCluster.condition("real", "DrainProgressing").includes("budget vnf"),
    );
    await node.request(2);
    await testCluster.answered("real", "Idle");
    expect([await vfCount(), hasPod("vnf"), isUnschedulable("real")]).toEqual([2, true, false]);

    await dropBudget("vnf");
    await node.request(4);
    await eventually("4 VFs", async () => (await vfCount()) === 4);
    expect(hasPod("vnf")).toBe(false);
    await testCluster.answered("real", "Idle");
    await eventually("schedulable", () => !isUnschedulable("real") && isDone());
    expect(answers()).toEqual(["Draining", "Idle", "Draining", "DrainComplete", "Idle"]);
    expect(testCluster.condition("real", "Ready")).toMatch(/^True Configured/);
  });
});

describe("a node state that is deleted during the drain of its node", () => {
  let node: RealNode;
  const stack = new AsyncDisposableStack();
  let numVfs = 2;

  beforeAll(async () => {
    await testCluster.addPool("again", { nodeSelector: { matchLabels: { pool: "again" } }, maxUnavailable: 1 });
    node = await startRealNode("again", stack);
    await testCluster.addNode("turn", { pool: "again" });
    await node.request(numVfs);
    await eventually("2 VFs", async () => (await node.vfCount()) === numVfs && node.isDone());
  }, 60_000);

  afterAll(async () => {
    await testCluster.removeNodes("again", "turn");
    await stack.disposeAsync();
  });

  const deleteState = () =>
    testCluster.transport.request({
      method: "DELETE",
      path: objectPath(sriovNetworkNodeStates, { name: "again", namespace: componentSettings.namespace }),
    });

  /** Deletes the state, and waits until the operator has created another one. */
  async function replaceState(): Promise<void> {
    const { uid } = testCluster.states.get("again")?.metadata ?? {};
    await deleteState();
    await eventually("a new state", () => {
      const state = testCluster.states.get("again");
      return state !== undefined && state.metadata.uid !== uid;
    });
  }

  /** Requests another number of VFs, 2 or 3, and waits until a budget blocks the drain. */
  async function block(): Promise<void> {
    await addProtectedPod("vnf", "again");
    await node.request((numVfs = 5 - numVfs));
    await isBlocked();
  }

  const isBlocked = () =>
    eventually("the budget holds", () => testCluster.condition("again", "DrainProgressing").includes("budget vnf"));

  /** The node has its VFs and its pods may return; then the other node of the pool gets its turn. */
  async function isConfiguredAndReleased(): Promise<void> {
    await eventually("the VFs", async () => (await node.vfCount()) === numVfs && node.isDone());
    await testCluster.answered("again", "Idle");
    await eventually("schedulable", () => !isUnschedulable("again"));
    await testCluster.ask("turn", "Drain_Required");
    await testCluster.answered("turn", "DrainComplete");
    await testCluster.ask("turn", "Idle");
    await testCluster.answered("turn", "Idle");
  }

  it("does not end or stop a drain that a budget blocks", async () => {
    await block();
    await replaceState();
    await isBlocked();
    await eventually("cordoned", () => isUnschedulable("again"));
    await dropBudget("vnf");
    await isConfiguredAndReleased();
    expect(hasPod("vnf")).toBe(false);
  });

  it("does not stop the drain if it is deleted again and again", async () => {
    await block();
    for (let times = 0; times < 3; times++) {
      await replaceState();
      await isBlocked();
    }
    await dropBudget("vnf");
    await isConfiguredAndReleased();
  });

  it("does not stop the drain if the operator is down meanwhile", async () => {
    await block();
    await testCluster.killOperator();
    await deleteState();
    await dropBudget("vnf");
    await testCluster.startOperator();
    await isConfiguredAndReleased();
  });

  it("does not stop the drain if the daemon is down when the drain is complete", async () => {
    await block();
    await node.killDaemon();
    await dropBudget("vnf");
    await testCluster.answered("again", "DrainComplete");
    await deleteState();
    await eventually("a new state", () => testCluster.answerOf("again") !== "DrainComplete");
    node.startDaemon();
    await isConfiguredAndReleased();
  });

  it("does not lose its turn while it waits for a slot", async () => {
    await testCluster.ask("turn", "Drain_Required");
    await testCluster.answered("turn", "DrainComplete");
    await node.request((numVfs = 5 - numVfs));
    const waits = () =>
      eventually("it waits", () => testCluster.condition("again", "DrainProgressing").includes("(turn)"));
    await waits();
    await deleteState();
    await waits();
    await testCluster.ask("turn", "Idle");
    await isConfiguredAndReleased();
  });

  it("leaves no node unschedulable if the policy is reverted at the same time", async () => {
    await block();
    await Promise.all([deleteState(), node.request((numVfs = 5 - numVfs))]);
    await isConfiguredAndReleased();
    expect(hasPod("vnf")).toBe(true);
    await dropBudget("vnf");
  });

  it("leaves no node unschedulable if somebody restores it without its request", async () => {
    await testCluster.addPod("vnf-2", { node: "again", requests: vf, labels: { app: "vnf" } });
    await testCluster.apply(budget("vnf"));
    await node.request((numVfs = 5 - numVfs));
    await isBlocked();
    const { desiredState, currentState } = annotations;
    const idle = [`${desiredState}=Idle`, `${currentState}=Idle`];
    const place = ["sriovnetworknodestate", "again", "-n", componentSettings.namespace];
    await testCluster.cluster.kubectl(["annotate", "--overwrite", ...place, ...idle]);
    await node.request((numVfs = 5 - numVfs));
    await isConfiguredAndReleased();
    expect(hasPod("vnf-2")).toBe(true);
    await dropBudget("vnf");
  });
});
