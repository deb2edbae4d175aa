// SPDX-License-Identifier: Apache-2.0
/**
 * Drains on a real API server with a controller manager: who is drained when, which pods leave, and what is left behind.
 * The test is the nodes' kubelets and daemons.
 */
import { afterAll, beforeAll, describe, expect, it, jest } from "@jest/globals";
import { annotations, nodes as nodeType, sriovNetworkNodeStates, taints } from "@switchyard/api";
import { objectPath } from "@switchyard/kube";
import { createFakeKernel, igb, pci, serveFakeKernel } from "@switchyard/host/testing";
import { eventually, findWorkspaceRoot, spawnGuarded } from "@switchyard/testing";
import { join } from "node:path";
import { allocateClaim, deviceClaim, publishDevices } from "../../src/device-claims.ts";
import { appsNamespace, podType, run, setDrainStage, type DrainStage } from "./drain-cluster.ts";
import { crdFolder } from "../../src/crd-objects.ts";
import { componentSettings } from "../../src/identity-objects.ts";

jest.setTimeout(60_000);

/** Label of nodes that wait for nobody. */
const unlimited = { pool: "unlimited" };
const vf = { "openshift.io/fast": "1" };
let stage: DrainStage;

beforeAll(async () => {
  stage = await setDrainStage(componentSettings, crdFolder);
  await stage.addPool("unlimited", { nodeSelector: { matchLabels: unlimited } });
}, 600_000);

afterAll(async () => {
  await stage[Symbol.asyncDispose]();
}, 60_000);

function isUnschedulable(name: string): boolean {
  return stage.nodes.get(name)?.spec?.unschedulable === true;
}

function hasPod(name: string): boolean {
  return stage.pods.get(name) !== undefined;
}

/** A budget that lets no pod with the label go. */
function budget(name: string): object {
  return {
    apiVersion: "policy/v1",
    kind: "PodDisruptionBudget",
    metadata: { name, namespace: appsNamespace },
    spec: { minAvailable: "100%", selector: { matchLabels: { app: name } } },
  };
}

/** A pod that nobody may evict, once the budget's controller has seen it. */
async function addProtectedPod(name: string, node: string): Promise<void> {
  await stage.addPod(name, { node, requests: vf, labels: { app: name } });
  await stage.apply(budget(name));
  await eventually("the budget counts the pod", async () => {
    const path = ["get", "pdb", name, "-n", appsNamespace, "-o", "jsonpath={.status.currentHealthy}"];
    return (await stage.cluster.kubectl(path)) === "1";
  });
}

async function dropBudget(name: string): Promise<void> {
  await stage.cluster.kubectl(["delete", "pdb", name, "-n", appsNamespace]);
}

describe("nodes in no pool", () => {
  it("are drained one at a time, who asked first is first, and each one says what it waits for", async () => {
    const names = ["one", "two", "three"];
    for (const name of names) await stage.addNode(name);
    await addProtectedPod("web", "three");
    await stage.addPod("idle", { node: "three" });

    await stage.ask("three", "Drain_Required");
    await eventually("the budget is named", () => stage.condition("three", "DrainProgressing").includes("budget web"));
    expect(stage.condition("three", "DrainProgressing")).toMatch(
      /^True EvictingPods: 1 pod left: apps\/web cannot be evicted now: The disruption budget web /,
    );
    expect(isUnschedulable("three")).toBe(true);

    await stage.ask("two", "Drain_Required");
    const waits = "False WaitingForSlot: waiting for a free slot in the default pool: 1 of 1 draining (three), ";
    await eventually("two waits", () => stage.condition("two", "DrainProgressing") === `${waits}next in line`);
    const since = stage.states.get("two")?.status?.conditions?.[0]?.lastTransitionTime ?? "";
    await eventually("a second later", () => Date.now() >= Date.parse(since) + 1000); // times are in whole seconds
    await stage.ask("one", "Reboot_Required");
    await eventually("one waits", () => stage.condition("one", "DrainProgressing") === `${waits}1 node ahead`);
    const table = await stage.cluster.kubectl([
      "get",
      "sriovnetworknodestate",
      "one",
      "-n",
      componentSettings.namespace,
    ]);
    expect(table).toContain("waiting for a free slot in the default pool: 1 of 1 draining (three), 1 node ahead");

    await dropBudget("web");
    await stage.answered("three", "DrainComplete");
    expect([hasPod("web"), hasPod("idle")]).toEqual([false, true]);
    expect(stage.condition("three", "DrainComplete")).toBe("True VfPodsGone: all evictable pods that use VFs are gone");
    expect([isUnschedulable("three"), isUnschedulable("two")]).toEqual([true, false]);

    await stage.ask("three", "Idle");
    await stage.answered("three", "Idle");
    expect(isUnschedulable("three")).toBe(false);
    await stage.answered("two", "DrainComplete");
    await stage.ask("two", "Idle");
    await stage.answered("one", "DrainComplete");
    await stage.ask("one", "Idle");
    await stage.answered("one", "Idle");
    await eventually("nothing is left", () => names.every((name) => stage.condition(name, "DrainProgressing") === ""));

    const reasons = await stage.cluster.kubectl(["get", "events", "-A", "-o", "jsonpath={.items[*].reason}"]);
    for (const reason of ["DrainStarted", "DrainCompleted", "DrainReleased"]) expect(reasons).toContain(reason);
    await stage.removeNodes(...names);
  });
});

describe("a node that is drained", () => {
  it("loses pods of which only an init container holds VFs (M-13)", async () => {
    await stage.addNode("init", unlimited);
    await stage.addPod("init-holder", { node: "init", initRequests: vf });
    await stage.addPod("bystander", { node: "init" });
    await stage.ask("init", "Drain_Required");
    await stage.answered("init", "DrainComplete");
    expect([hasPod("init-holder"), hasPod("bystander")]).toEqual([false, true]);
    await stage.ask("init", "Idle");
    await stage.answered("init", "Idle");
    await stage.removeNodes("init");
  });

  it("stays unschedulable after if an admin had made it so (M-13)", async () => {
    await stage.addNode("cordoned", unlimited);
    await stage.cluster.kubectl(["cordon", "cordoned"]);
    await stage.ask("cordoned", "Drain_Required");
    await stage.answered("cordoned", "DrainComplete");
    await stage.ask("cordoned", "Idle");
    await stage.answered("cordoned", "Idle");
    expect(isUnschedulable("cordoned")).toBe(true);
    await stage.removeNodes("cordoned");
  });

  it("is let go at once when the daemon takes its request back in the middle (M-52)", async () => {
    await stage.addNode("stuck", unlimited);
    await addProtectedPod("db", "stuck");
    await stage.ask("stuck", "Drain_Required");
    await eventually("stuck", () => stage.condition("stuck", "DrainProgressing").includes("budget db"));
    await stage.ask("stuck", "Idle");
    await stage.answered("stuck", "Idle");
    await eventually("schedulable", () => !isUnschedulable("stuck"));
    expect(hasPod("db")).toBe(true);
    await dropBudget("db");
    await stage.removeNodes("stuck");
  });

  it("is drained of all pods when a reboot is asked for after a partial drain", async () => {
    await stage.addNode("other", unlimited);
    await stage.addNode("escalates", unlimited);
    await stage.addPod("plain", { node: "escalates" });
    await stage.ask("escalates", "Drain_Required");
    await stage.answered("escalates", "DrainComplete");
    expect(hasPod("plain")).toBe(true);
    await stage.ask("escalates", "Reboot_Required");
    await eventually("the pod goes", () => !hasPod("plain"));
    await stage.answered("escalates", "DrainComplete");
    expect(stage.condition("escalates", "DrainComplete")).toContain("AllPodsGone");
    await stage.ask("escalates", "Idle");
    await stage.answered("escalates", "Idle");
    await stage.removeNodes("other", "escalates");
  });

  it("gets no new pods of DaemonSets that hold VFs before the drain is over", async () => {
    await stage.addNode("daemons", { ...unlimited, role: "vnf" });
    const template = {
      metadata: { labels: { app: "vnf" } },
      spec: {
        nodeSelector: { role: "vnf" },
        containers: [{ name: "main", image: "example.com/none:1", resources: { requests: vf, limits: vf } }],
      },
    };
    await stage.apply({
      apiVersion: "apps/v1",
      kind: "DaemonSet",
      metadata: { name: "vnf", namespace: appsNamespace },
      spec: { selector: { matchLabels: { app: "vnf" } }, template },
    });
    const podsOfSet = () => stage.pods.list().filter(({ metadata }) => metadata.labels?.["app"] === "vnf");
    const first = await eventually("the DaemonSet's pod", () => podsOfSet()[0]);
    const { name } = first.metadata;
    await stage.transport.request({
      method: "POST",
      path: objectPath(podType, { name, namespace: appsNamespace }, "binding"),
      body: { apiVersion: "v1", kind: "Binding", metadata: { name }, target: { kind: "Node", name: "daemons" } },
    });
    await run(stage.transport, { name, namespace: appsNamespace });

    await stage.ask("daemons", "Drain_Required");
    await stage.answered("daemons", "DrainComplete");
    expect(podsOfSet()).toEqual([]);
    expect(stage.nodes.get("daemons")?.spec?.taints).toContainEqual({ key: taints.draining, effect: "NoSchedule" });
    await stage.ask("daemons", "Idle");
    await eventually("the DaemonSet makes it anew", () => podsOfSet().length === 1);
    const marks = [annotations.cordonedBy, taints.draining];
    expect(marks.filter((mark) => JSON.stringify(stage.nodes.get("daemons")).includes(mark))).toEqual([]);
    await stage.cluster.kubectl(["delete", "daemonset", "vnf", "-n", appsNamespace]);
    await stage.removeNodes("daemons");
  });

  it("says which pod two budgets hold, which the API server cannot weigh, and goes on when one is gone", async () => {
    await stage.addNode("twice", unlimited);
    await addProtectedPod("twice-held", "twice");
    const second = { ...budget("twice-held"), metadata: { name: "second", namespace: appsNamespace } };
    await stage.apply({ ...second, spec: { maxUnavailable: 1, selector: { matchLabels: { app: "twice-held" } } } });
    await stage.ask("twice", "Drain_Required");
    const says = /1 pod left: apps\/twice-held cannot be evicted now: .* more than one PodDisruptionBudget/;
    await eventually("both are the reason", () => says.test(stage.condition("twice", "DrainProgressing")));
    for (const name of ["second", "twice-held"]) await dropBudget(name);
    await stage.answered("twice", "DrainComplete");
    await stage.ask("twice", "Idle");
    await stage.answered("twice", "Idle");
    await stage.removeNodes("twice");
  });

  it("is left to somebody else where he drains, from the request to its end", async () => {
    await stage.addNode("external", unlimited);
    const { useExternalDrainer, currentState } = annotations;
    const place = ["sriovnetworknodestate", "external", "-n", componentSettings.namespace];
    const write = (note: string) => stage.cluster.kubectl(["annotate", "--overwrite", ...place, note]);
    const begin = stage.answers.length;
    await write(`${useExternalDrainer}=true`);
    await stage.ask("external", "Drain_Required");
    await stage.addNode("ours", unlimited);
    await stage.ask("ours", "Drain_Required");
    await stage.answered("ours", "DrainComplete"); // by then the other would have been admitted
    expect([stage.answerOf("external"), isUnschedulable("external")]).toEqual(["Idle", false]);

    await stage.cluster.kubectl(["cordon", "external"]);
    await write(`${currentState}=Draining`);
    await write(`${currentState}=DrainComplete`);
    await stage.ask("external", "Idle");
    await stage.ask("ours", "Idle");
    await stage.answered("ours", "Idle"); // by then the other would have been let go
    expect([stage.answerOf("external"), isUnschedulable("external")]).toEqual(["DrainComplete", true]);
    await write(`${currentState}=Idle`);
    await stage.answered("external", "Idle");
    const answers = stage.answers.slice(begin).filter(({ node }) => node === "external");
    expect(answers.map(({ answer }) => answer)).toEqual(["Draining", "DrainComplete", "Idle"]);
    expect([isUnschedulable("external"), stage.condition("external", "DrainProgressing")]).toEqual([true, ""]);
    await stage.removeNodes("external", "ours");
  });

  it("is drained to the end by the next operator, and the next, and becomes schedulable", async () => {
    await stage.addNode("survivor", unlimited);
    await addProtectedPod("slow", "survivor");
    await stage.ask("survivor", "Drain_Required");
    await eventually("unschedulable", () => isUnschedulable("survivor"));
    await stage.killOperator();
    await stage.startOperator();
    await eventually("blocked", () => stage.condition("survivor", "DrainProgressing").includes("budget slow"));
    await stage.killOperator();
    await dropBudget("slow");
    await stage.startOperator();
    await stage.answered("survivor", "DrainComplete");
    expect(hasPod("slow")).toBe(false);
    await stage.ask("survivor", "Idle");
    await stage.answered("survivor", "Idle");
    expect(isUnschedulable("survivor")).toBe(false);
    await stage.removeNodes("survivor");
  });
});

describe("a node with a DRA driver", () => {
  const [nics, gpus] = ["nics.example.com", "gpus.example.com"];

  /** A pod that was allocated a device, as the scheduler does it. */
  async function addClaimant(name: string, node: string, driver: string, device: string): Promise<void> {
    const claim = { name, namespace: appsNamespace };
    await stage.apply(deviceClaim(claim));
    await stage.addPod(name, { node, claim: name });
    const { uid = "" } = (await eventually(name, () => stage.pods.get(name))).metadata;
    await allocateClaim(stage.transport, { claim, driver, pool: node, device, pod: { name, uid } });
  }

  /** As its daemon reports it: a PF with a VF. */
  async function addNode(node: string): Promise<void> {
    await stage.addNode(node, unlimited);
    const pf = { pciAddress: "0000:3b:00.0", numVfs: 1, Vfs: [{ pciAddress: "0000:3b:02.0", vfID: 0 }] };
    await stage.transport.request({
      method: "PATCH",
      path: objectPath(sriovNetworkNodeStates, { name: node, namespace: componentSettings.namespace }, "status"),
      contentType: "application/merge-patch+json",
      body: { status: { interfaces: [pf, { pciAddress: "0000:01:00.0" }] } },
    });
  }

  it("is drained of the pods that were allocated its VFs, and of no others", async () => {
    await addNode("dra");
    await publishDevices(stage.apply, {
      ...{ driver: nics, node: "dra" },
      devices: {
        "vf-0": { "resource.kubernetes.io/pciBusID": "0000:3b:02.0" },
        "vf-of-pf": { pciAddress: "0000:3b:02.1", pfPciAddress: "0000:3b:00.0" },
        "foreign-port": { pciAddress: "0000:01:00.0" },
      },
    });
    const gpu = { "resource.kubernetes.io/pciBusID": "0000:99:00.0" };
    await publishDevices(stage.apply, { driver: gpus, node: "dra", devices: { "gpu-0": gpu } });
    await addClaimant("by-address", "dra", nics, "vf-0");
    await addClaimant("by-attribute-of-its-own", "dra", nics, "vf-of-pf");
    await addClaimant("foreign", "dra", nics, "foreign-port");
    await addClaimant("gpu", "dra", gpus, "gpu-0");
    await stage.addPod("no-claim", { node: "dra" });
    await addExtended("extended", "dra");

    await stage.ask("dra", "Drain_Required");
    await stage.answered("dra", "DrainComplete");
    const left = ["by-address", "by-attribute-of-its-own", "extended", "foreign", "gpu", "no-claim"].filter(hasPod);
    expect(left).toEqual(["foreign", "gpu", "no-claim"]);
    await stage.ask("dra", "Idle");
    await stage.answered("dra", "Idle");
    await stage.removeNodes("dra");
  });

  it("is drained of pods whose devices are not published any more, where their driver is one of NICs", async () => {
    await addNode("dra-a");
    await addNode("dra-b");
    const vf = { "vf-0": { "resource.kubernetes.io/pciBusID": "0000:3b:02.0" } };
    await publishDevices(stage.apply, { driver: nics, node: "dra-b", devices: vf });
    await addClaimant("in-doubt", "dra-a", nics, "vf-0");
    await addClaimant("gpu-in-doubt", "dra-a", gpus, "gpu-0");
    await stage.ask("dra-a", "Drain_Required");
    await stage.answered("dra-a", "DrainComplete");
    expect(["in-doubt", "gpu-in-doubt"].filter(hasPod)).toEqual(["gpu-in-doubt"]);
    await stage.ask("dra-a", "Idle");
    await stage.answered("dra-a", "Idle");
    await stage.removeNodes("dra-a", "dra-b");
  });

  /** A pod whose extended resource the scheduler has allocated by a claim of its own making. */
  async function addExtended(name: string, node: string): Promise<void> {
    const claim = { name: `${name}-extended-resources`, namespace: appsNamespace };
    await stage.apply(deviceClaim(claim));
    await stage.addPod(name, { node, requests: { "example.com/nic": "1" } });
    const { uid = "" } = (await eventually(name, () => stage.pods.get(name))).metadata;
    await allocateClaim(stage.transport, { claim, driver: nics, pool: node, device: "vf-0", pod: { name, uid } });
    const requestMappings = [{ containerName: "main", resourceName: "example.com/nic", requestName: "nic" }];
    await stage.transport.request({
      method: "PATCH",
      path: objectPath(podType, { name, namespace: appsNamespace }, "status"),
      contentType: "application/merge-patch+json",
      body: { status: { extendedResourceClaimStatus: { resourceClaimName: claim.name, requestMappings } } },
    });
  }
});

describe("a pool", () => {
  it("of maxUnavailable 0 holds all drains, and says so (M-33)", async () => {
    await stage.addPool("held", { nodeSelector: { matchLabels: { pool: "held" } }, maxUnavailable: 0 });
    await stage.addNode("held-1", { pool: "held" });
    await stage.ask("held-1", "Drain_Required");
    const says = 'False HeldByPool: pool "held" allows no drains: its maxUnavailable is 0';
    await eventually("held", () => stage.condition("held-1", "DrainProgressing") === says);
    await stage.addPool("held", { nodeSelector: { matchLabels: { pool: "held" } }, maxUnavailable: 1 });
    await stage.answered("held-1", "DrainComplete");
    await stage.ask("held-1", "Idle");
    await stage.answered("held-1", "Idle");
    await stage.removeNodes("held-1");
  });
});

describe("a drained node whose daemon does not go on", () => {
  const long = 6 * 60_000;

  /** As if it had been drained minutes ago, and another operator led by now. */
  async function backdate(node: string): Promise<void> {
    await stage.killOperator();
    const { conditions = [] } = stage.states.get(node)?.status ?? {};
    const lastTransitionTime = new Date(Date.now() - long).toISOString();
    await stage.transport.request({
      method: "PATCH",
      path: objectPath(sriovNetworkNodeStates, { name: node, namespace: componentSettings.namespace }, "status"),
      contentType: "application/merge-patch+json",
      body: { status: { conditions: conditions.map((condition) => ({ ...condition, lastTransitionTime })) } },
    });
    await stage.startOperator();
  }

  const read = async (kind: string, name: string, path: string) => {
    const place = ["get", kind, name, "-n", componentSettings.namespace];
    return stage.cluster.kubectl([...place, "-o", `jsonpath=${path}`]);
  };
  const degraded = '{.status.conditions[?(@.type=="Degraded")].reason}';

  it("is named by its pool as the one that holds the slot, which is Degraded within minutes", async () => {
    await stage.addPool("stalls", { nodeSelector: { matchLabels: { pool: "stalls" } }, maxUnavailable: 1 });
    for (const name of ["dead", "waits"]) await stage.addNode(name, { pool: "stalls" });
    await stage.ask("dead", "Drain_Required");
    await stage.answered("dead", "DrainComplete");
    const holders = () => read("sriovnetworkpoolconfig", "stalls", "{.status.drainingNodes[*].node}");
    await eventually("the pool names it", async () => (await holders()) === "dead");
    expect(await read("sriovnetworkpoolconfig", "stalls", degraded)).not.toBe("DaemonStalled");

    await backdate("dead");
    await eventually("the pool is Degraded", async () => {
      return (await read("sriovnetworkpoolconfig", "stalls", degraded)) === "DaemonStalled";
    });
    const says =
      /^True DaemonStalled: node dead has been drained since .* its config daemon has reported nothing since then/;
    await eventually("the node state says so", () => says.test(stage.condition("dead", "DrainDegraded")));
    await stage.ask("waits", "Drain_Required");
    await eventually("it waits", () => stage.condition("waits", "DrainProgressing").includes("1 of 1 draining (dead)"));
    expect(stage.answerOf("dead")).toBe("DrainComplete"); // its VFs may be half configured

    await stage.ask("dead", "Idle");
    await stage.answered("waits", "DrainComplete");
    await eventually("the next one holds the slot", async () => (await holders()) === "waits");
    expect(await read("sriovnetworkpoolconfig", "stalls", degraded)).not.toBe("DaemonStalled");
    await stage.ask("waits", "Idle");
    await stage.answered("waits", "Idle");
    await stage.removeNodes("dead", "waits");
  });

  it("is named by the SriovOperatorConfig where it is in no pool", async () => {
    const message = '{.status.conditions[?(@.type=="DrainDegraded")].message}';
    const said = () => read("sriovoperatorconfig", "default", message);
    await stage.addNode("alone");
    await stage.ask("alone", "Drain_Required");
    await stage.answered("alone", "DrainComplete");
    await eventually("it is named", async () =>
      (await said()).includes("node alone holds the drain slot, DrainComplete"),
    );
    await backdate("alone");
    await eventually("it has stalled", async () => (await said()).includes("its config daemon has reported nothing"));
    await stage.ask("alone", "Idle");
    await eventually("nothing is left", async () => (await said()) === "");
    await stage.removeNodes("alone");
  });
});

describe("a node that goes in the middle of its drain", () => {
  it("frees its slot", async () => {
    await stage.addPool("pair", { nodeSelector: { matchLabels: { pool: "pair" } }, maxUnavailable: 1 });
    await stage.addNode("leaves", { pool: "pair" });
    await stage.addNode("next", { pool: "pair" });
    await addProtectedPod("left", "leaves");
    await stage.ask("leaves", "Drain_Required");
    await stage.answered("leaves", "Draining");
    await stage.ask("next", "Drain_Required");
    await eventually("next waits", () => stage.condition("next", "DrainProgressing").includes("(leaves)"));
    await stage.transport.request({ method: "DELETE", path: objectPath(nodeType, { name: "leaves" }) });
    await stage.answered("next", "DrainComplete");
    await stage.ask("next", "Idle");
    await stage.answered("next", "Idle");
  });

  it("gets no turn when it joins again before it asks again", async () => {
    const { desiredState, currentState } = annotations;
    await eventually("nothing is asked any more", () => {
      const { metadata } = stage.states.get("leaves") ?? {};
      const handshake = [desiredState, currentState].map((key) => metadata?.annotations?.[key]);
      return handshake.every((word) => word === "Idle") && stage.condition("leaves", "DrainProgressing") === "";
    });
    const begin = stage.answers.length;
    await stage.addNode("leaves", { pool: "pair" });
    await stage.ask("next", "Drain_Required");
    await stage.answered("next", "DrainComplete"); // by then the other would have had its turn
    const answers = stage.answers.slice(begin).map(({ node, answer }) => `${node} ${answer}`);
    expect([answers, isUnschedulable("leaves")]).toEqual([["next Draining", "next DrainComplete"], false]);
    await stage.ask("next", "Idle");
    await stage.answered("next", "Idle");
    await stage.removeNodes("leaves", "next");
  });
});

describe("operator and daemon together", () => {
  const pf = pci("0000:01:00.0");

  it("change a node's VFs without a pod on them, and nothing where the policy is taken back in time", async () => {
    const kernel = createFakeKernel({ nics: [igb("0000:01:00.0")] });
    const socket = join(stage.cluster.dataDir, "real.sock");
    await using _server = await serveFakeKernel(kernel, socket);
    const setLimit = (maxUnavailable: number) =>
      stage.addPool("real", { nodeSelector: { matchLabels: { pool: "real" } }, maxUnavailable });
    await setLimit(0);
    await stage.addNode("real", { pool: "real", "kubernetes.io/hostname": "real" });
    const common = ["--kubeconfig", stage.cluster.kubeconfig, "--namespace", componentSettings.namespace];
    const daemon = spawnGuarded(
      process.execPath,
      [
        join(findWorkspaceRoot(), "apps/config-daemon/src/testing/fake-node.ts"),
        ...common,
        "--node-name",
        "real",
        "--kernel-socket",
        socket,
      ],
      { log: join(stage.cluster.dataDir, "daemon.log") },
    );
    await using stack = new AsyncDisposableStack();
    stack.defer(() => daemon.kill());
    const ask = (numVfs: number) =>
      stage.apply({
        apiVersion: "sriovnetwork.openshift.io/v1",
        kind: "SriovNetworkNodePolicy",
        metadata: { name: "real", namespace: componentSettings.namespace },
        spec: {
          ...{ nodeSelector: { "kubernetes.io/hostname": "real" }, nicSelector: { rootDevices: [pf] } },
          ...{ resourceName: "fast", numVfs },
        },
      });
    const vfCount = async () => (await kernel.host().sriov.readPf(pf))?.sriov?.vfs.length;
    const isDone = () => {
      const state = stage.states.get("real");
      return state?.status?.syncStatus === "Succeeded" && state.status.observedGeneration === state.metadata.generation;
    };

    await ask(2); // the first VFs disturb nobody
    await eventually("2 VFs", async () => (await vfCount()) === 2 && isDone());
    await addProtectedPod("vnf", "real");
    const begin = stage.answers.length;
    const answers = () =>
      stage.answers
        .slice(begin)
        .filter(({ node }) => node === "real")
        .map(({ answer }) => answer);

    await ask(4);
    await eventually("it waits", () => stage.condition("real", "DrainProgressing").startsWith("False HeldByPool"));
    await ask(2);
    await eventually("it asks no more", () => stage.condition("real", "DrainProgressing") === "" && isDone());
    await setLimit(1);
    expect([await vfCount(), hasPod("vnf"), isUnschedulable("real"), answers()]).toEqual([2, true, false, []]);

    await ask(4);
    await eventually("the budget holds", () => stage.condition("real", "DrainProgressing").includes("budget vnf"));
    await ask(2);
    await stage.answered("real", "Idle");
    expect([await vfCount(), hasPod("vnf"), isUnschedulable("real")]).toEqual([2, true, false]);

    await dropBudget("vnf");
    await ask(4);
    await eventually("4 VFs", async () => (await vfCount()) === 4);
    expect(hasPod("vnf")).toBe(false);
    await stage.answered("real", "Idle");
    await eventually("schedulable", () => !isUnschedulable("real") && isDone());
    expect(answers()).toEqual(["Draining", "Idle", "Draining", "DrainComplete", "Idle"]);
    expect(stage.condition("real", "Ready")).toMatch(/^True Configured/);
  });
});
