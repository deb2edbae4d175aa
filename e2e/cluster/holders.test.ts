// SPDX-License-Identifier: Apache-2.0
/**
 * Tests on a node with a real kubelet that a VF has one holder. A change of one PF evicts the pods of that PF alone. A resource that gets
 * another name under running pods gives none of their VFs to a second pod. Which pod has which VF is read from the environment variable
 * that the device plugin gives to containers, not from what Switchyard reports. The parts build on each other.
 */
import { afterAll, beforeAll, describe, expect } from "@jest/globals";
import { nodes as nodeType, type Node } from "@switchyard/api";
import { connect, watchObjects } from "@switchyard/kube";
import { eventually } from "@switchyard/testing";
import { isDeepStrictEqual } from "node:util";
import { disposeOf } from "../src/dispose-of.ts";
import { installedCluster, type InstalledCluster } from "./installed-cluster.ts";
import { nodeName } from "./kube-cluster.ts";
import { createParts, createTimings } from "./timings.ts";
import { deploymentOf, namespace, networkFor, ping, podsOf, policyFor, type VfPod } from "./vf-pods.ts";

/** An idle machine needs seconds, a busy one minutes. */
const within = { withinMs: 900_000, everyMs: 500 };
const limitMs = 1_800_000;
const timings = createTimings();
const part = createParts(limitMs);
/** The PF that changes, and another one. */
const [x, y] = [
  { name: "x", pfName: "enp1s0f0", address: "0000:01:00.0" },
  { name: "y", pfName: "enp1s0f1", address: "0000:01:00.1" },
] as const;

let installed: InstalledCluster;

beforeAll(async () => {
  installed = await installedCluster(timings);
  await timings.during("policies to allocatable", async () => {
    for (const { name, pfName } of [x, y]) {
      await apply(policyFor({ name, pfName, numVfs: 4 }));
      await apply(networkFor(name));
    }
    await offers({ x: 4, y: 4 });
  });
  await timings.during("pods Ready", async () => {
    await run("x", 2);
    await run("y", 1);
    await Promise.all([podsWithVfs("x", 2), podsWithVfs("y", 1)]);
  });
}, limitMs);

afterAll(async () => {
  timings.print();
  await disposeOf(installed);
}, 120_000);

const apply = (object: unknown): Promise<string> => installed.cluster.kubectl(["apply", "-f", "-"], object);
const resourceOf = (name: string): string => `openshift.io/${name}`;

/** Starts a Deployment whose pods have a VF each of the resource of the same name, or changes the number of its pods. */
function run(name: string, replicas: number): Promise<string> {
  const pods = { app: name, network: name, resource: resourceOf(name), replicas };
  return apply(deploymentOf(installed.tools, pods));
}

/** Waits until the kubelet offers this number of devices of each resource. */
async function offers(wanted: Readonly<Record<string, number>>): Promise<void> {
  const holds = async (): Promise<boolean> => {
    const text = await installed.cluster.kubectl(["get", "node", nodeName, "-o", "jsonpath={.status.allocatable}"]);
    const allocatable = JSON.parse(text) as Readonly<Record<string, string>>;
    return Object.entries(wanted).every(([name, count]) => Number(allocatable[resourceOf(name)] ?? 0) === count);
  };
  await eventually(`the node offers ${JSON.stringify(wanted)}`, holds, within);
}

/** The pods of a Deployment, all of which have their VFs. */
function podsWithVfs(app: string, replicas: number): Promise<readonly VfPod[]> {
  return eventually(`${replicas} pods of ${app} have VFs`, () => podsOf(installed.cluster, { app, replicas }), within);
}

const uidsOf = (pods: readonly VfPod[]): readonly string[] => pods.map(({ uid }) => uid);

/** PCI addresses of the VFs, as the device plugin has told the containers of the running pods. */
async function vfsOf(name: string): Promise<readonly string[]> {
  const { kubectl } = installed.cluster;
  const running = ["-l", `app=${name}`, "--field-selector=status.phase=Running", "-o", "name"];
  const pods = (await kubectl(["get", "pods", ...running])).split("\n").filter((line) => line !== "");
  const variable = `PCIDEVICE_OPENSHIFT_IO_${name.toUpperCase()}`;
  return Promise.all(pods.map((pod) => kubectl(["exec", pod, "--", "sh", "-c", `echo $${variable}`])));
}

/** What a JSONPath expression finds in the node state. */
function inNodeState(path: string): Promise<string> {
  const args = ["get", "sriovnetworknodestate", nodeName, "-n", namespace, "-o", `jsonpath={${path}}`];
  return installed.cluster.kubectl(args);
}

function conditionOf(type: string): Promise<string> {
  return inNodeState(`.status.conditions[?(@.type=="${type}")].message`);
}

/** The uids of the pods that have VFs, as the node state reports them. */
async function reportedHolders(): Promise<readonly string[]> {
  const uids = await inNodeState(".status.interfaces[*].Vfs[*].holder.uid");
  return uids.split(" ").filter((uid) => uid !== "");
}

/** Records whether the node is unschedulable at any time until it is disposed of. */
async function watchCordon(): Promise<AsyncDisposable & { readonly wasCordoned: () => boolean }> {
  await using stack = new AsyncDisposableStack();
  const transport = stack.use(await connect({ kubeconfig: installed.cluster.controlPlane.kubeconfig }));
  let wasCordoned = false;
  const report = (): undefined => undefined;
  const nodes = stack.use(watchObjects({ transport, report, type: nodeType, project: (node: Node) => node }));
  nodes.subscribe(({ after }) => {
    wasCordoned ||= after?.spec?.unschedulable === true;
  });
  const owned = stack.move();
  return { wasCordoned: () => wasCordoned, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

describe("the VFs of running pods", () => {
  part("are reported with the uids of the pods", async () => {
    const uids = uidsOf([...(await podsWithVfs("x", 2)), ...(await podsWithVfs("y", 1))]).toSorted();
    const areReported = async (): Promise<boolean> => isDeepStrictEqual((await reportedHolders()).toSorted(), uids);
    await eventually("the node state has the pods", areReported, within);
  });

  part("are the reason why a change of their PF evicts them, while pods of another PF stay and start", async () => {
    await using cordon = await watchCordon();
    const before = { x: await podsWithVfs("x", 2), y: await podsWithVfs("y", 1) };
    const budget = { minAvailable: 2, selector: { matchLabels: { app: "x" } } };
    await apply({ apiVersion: "policy/v1", kind: "PodDisruptionBudget", metadata: { name: "x" }, spec: budget });
    await timings.during("drain of one PF, until a budget stops it", async () => {
      await apply(policyFor({ name: "x", pfName: x.pfName, numVfs: 5 }));
      const isHeld = async (): Promise<boolean> =>
        (await conditionOf("DrainProgressing")).includes("disruption budget x");
      await eventually("the budget holds the drain", isHeld, within);
    });
    await offers({ x: 0, y: 4 });
    await timings.during("a pod of the other PF starts during the drain", async () => {
      await run("y", 2);
      await podsWithVfs("y", 2);
    });
    expect(uidsOf(await podsWithVfs("x", 2))).toEqual(uidsOf(before.x));
    await timings.during("drain of one PF without the budget, pods back", async () => {
      await installed.cluster.kubectl(["delete", "poddisruptionbudget", "x"]);
      await offers({ x: 5, y: 4 });
      await podsWithVfs("x", 2);
    });
    const [first, second] = await podsWithVfs("x", 2);
    if (first === undefined || second === undefined) throw new Error("two pods have VFs, but one is not there");
    expect(uidsOf(before.x)).not.toContain(first.uid);
    expect(uidsOf(before.x)).not.toContain(second.uid);
    expect(await ping(installed.cluster, [first, second])).toContain(" 0% packet loss");
    expect(uidsOf(await podsWithVfs("y", 2))).toEqual(expect.arrayContaining([...uidsOf(before.y)]));
    expect(cordon.wasCordoned()).toBe(false);
  });

  part("are given to no other pod under the new name of their resource, until their pods end", async () => {
    const before = await podsWithVfs("x", 2);
    const held = await vfsOf("x");
    await timings.during("renaming of a resource, until its free VFs are offered", async () => {
      await apply(policyFor({ name: "x", pfName: x.pfName, numVfs: 5, resourceName: "renamed" }));
      await offers({ x: 0, renamed: 3 });
    });
    const withheld = `renamed: 2 VFs of ${x.address} are withheld until pods that have them end`;
    const isSaid = async (): Promise<boolean> => (await conditionOf("DevicePluginConfigured")).includes(withheld);
    await eventually("the condition counts the VFs that are withheld", isSaid, within);
    await timings.during("pods with the free VFs", async () => {
      await apply(networkFor("renamed"));
      await run("renamed", 4);
      await eventually("three pods run", async () => (await vfsOf("renamed")).length === 3, within);
    });
    const path = 'jsonpath={.items[*].status.conditions[?(@.reason=="Unschedulable")].message}';
    const refused = (): Promise<string> => installed.cluster.kubectl(["get", "pods", "-l", "app=renamed", "-o", path]);
    expect(await refused()).toContain(`Insufficient ${resourceOf("renamed")}`);
    expect(uidsOf(await podsWithVfs("x", 2))).toEqual(uidsOf(before));
    const inUse = [...held, ...(await vfsOf("renamed"))];
    expect([inUse.length, new Set(inUse).size]).toEqual([5, 5]);

    await timings.during("end of a pod, until another one has its VF", async () => {
      await run("x", 1);
      await eventually("four pods run", async () => (await vfsOf("renamed")).length === 4, within);
    });
    const after = [...(await vfsOf("x")), ...(await vfsOf("renamed"))];
    expect([...after].sort()).toEqual([...inUse].sort());
  });
});
