// SPDX-License-Identifier: Apache-2.0
/**
 * The operator with loader bpfman on a real API server, as a process with its rights in a cluster. The test reports what a node's
 * daemon and device plugin would; a stand-in plays bpfman-operator and its agent, with a loader that only counts.
 * e2e/afxdp/bpfman.test.ts has the real bpfman.
 */
import { afterAll, afterEach, beforeAll, describe, expect, it } from "@jest/globals";
import {
  afxdpNetworkNodePolicies,
  afxdpNetworkNodeStates,
  afxdpOperatorConfigs,
  afxdpResources,
  clusterBpfApplications,
  nodes,
  sriovResources,
  xdpPrograms,
} from "@switchyard/api";
import {
  apiVersionOf,
  collectionPath,
  connect,
  isRecord,
  objectPath,
  recordAt,
  type ResourceType,
  type Transport,
} from "@switchyard/kube";
import { operatorIdentity } from "@switchyard/render";
import {
  bpfmanCrds,
  bpfmanTypes,
  type BpfmanVersion,
  type ControlPlane,
  eventually,
  runProgram,
  startControlPlane,
} from "@switchyard/testing";
import { join } from "node:path";
import { startBpfmanAgent, type BpfmanLoader } from "../../src/nodes/bpfman-agent.ts";
import { applyCrdsOf, workspace } from "../../src/crds/crd-objects.ts";
import { deployedOperatorArguments } from "../../src/operator/operator-command.ts";
import { componentSettings, namespace } from "../../src/operator/identity-objects.ts";
import { spawnKept, type KeptProcess } from "../../src/kept-process.ts";
import { eventuallyMatches, readIfThere } from "../../src/api/plain-api.ts";

const operatorUser = `system:serviceaccount:${namespace}:${componentSettings.operatorServiceAccount}`;
const nodeName = "worker-1";
const device = "0000:86:00.0";
const nic = { pciAddress: device, name: "ens1f0", driver: "ice" };
const otherNic = { pciAddress: "0000:86:00.1", name: "ens1f1", driver: "ice" };
const policySpec = { poolName: "fast", nodeSelector: {}, nicSelector: { pfNames: ["ens1f0"] } };

let cluster: ControlPlane;
let user: Transport;
let operator: KeptProcess;
let agent: AsyncDisposable | undefined;

/** Counts IDs, and refuses what the test says: to attach programs, or also to load them. */
const loads: { path: string; image: string; functionName: string }[] = [];
let refusal: "load" | "attach" | undefined;
const loader: BpfmanLoader = {
  load(program) {
    if (refusal === "load") return Promise.reject(new Error("can't open file: No such file or directory (os error 2)"));
    const { path, image, functionName } = program;
    loads.push({ path, image, functionName });
    return Promise.resolve(100 + loads.length);
  },
  attach: () =>
    refusal !== undefined ? Promise.reject(new Error("dispatcher attach failed")) : Promise.resolve(loads.length),
  detach: () => Promise.resolve(),
  unload: () => Promise.resolve(),
};

beforeAll(async () => {
  cluster = await startControlPlane({ controllerManager: true, auditLog: true });
  await applyCrdsOf(cluster, [...sriovResources, ...afxdpResources]);
  user = await connect({ kubeconfig: cluster.kubeconfig, userAgent: "test" });
  await cluster.kubectl(["create", "namespace", namespace]);
  const identity = { apiVersion: "v1", kind: "List", items: operatorIdentity(componentSettings) };
  await cluster.kubectl(["create", "-f", "-"], { input: JSON.stringify(identity) });
  const labels = {
    "node-role.kubernetes.io/worker": "",
    "kubernetes.io/os": "linux",
    "kubernetes.io/hostname": nodeName,
  };
  const node = { apiVersion: "v1", kind: "Node", metadata: { name: nodeName, labels } };
  await user.request({ method: "POST", path: collectionPath(nodes), body: node });
  operator = await startOperator();
}, 600_000);

afterEach(() => operator.mustBeAlive());

afterAll(async () => {
  await agent?.[Symbol.asyncDispose]();
  await operator.kill();
  await user[Symbol.asyncDispose]();
  await cluster[Symbol.asyncDispose]();
}, 60_000);

async function startOperator(): Promise<KeptProcess> {
  const args = await deployedOperatorArguments(cluster);
  return spawnKept(args, { log: join(cluster.dataDir, "operator.log"), name: "bpfman-operator" });
}

async function installBpfman(version: BpfmanVersion): Promise<void> {
  await cluster.applyCrds(bpfmanCrds(version));
  agent = startBpfmanAgent({ transport: user, version, nodeName, loader });
}

const pathOf = (type: ResourceType, name: string, subresource?: string): string =>
  objectPath(type, type.namespaced ? { namespace, name } : { name }, subresource);

async function create(type: ResourceType, name: string, spec: object): Promise<void> {
  const body = { apiVersion: apiVersionOf(type), kind: type.kind, metadata: { name }, spec };
  await user.request({ method: "POST", path: collectionPath(type, type.namespaced ? namespace : undefined), body });
}

async function merge(type: ResourceType, name: string, body: object, subresource?: string): Promise<void> {
  const contentType = "application/merge-patch+json" as const;
  await user.request({ method: "PATCH", path: pathOf(type, name, subresource), contentType, body });
}

async function remove(type: ResourceType, name: string): Promise<void> {
  await user.request({ method: "DELETE", path: pathOf(type, name) });
}

async function read(type: ResourceType, name: string): Promise<Readonly<Record<string, unknown>> | undefined> {
  const object = await readIfThere(user, pathOf(type, name));
  return isRecord(object) ? object : undefined;
}

function becomes(type: ResourceType, name: string, expected: object, withinMs?: number): Promise<void> {
  return eventuallyMatches(`${type.kind} ${name}`, () => read(type, name), expected, withinMs);
}

const ready = (status: string, reason: string, message: string): object => ({
  conditions: expect.arrayContaining([
    expect.objectContaining({ type: "Ready", status, reason, message: expect.stringContaining(message) }),
  ]),
});

/** Reports what the daemon and the device plugin of the node would, for the current generation. */
async function report(status: object): Promise<void> {
  const generation = recordAt(await read(afxdpNetworkNodeStates, nodeName), "metadata")["generation"];
  const body = { status: { observedGeneration: generation, ...status } };
  await merge(afxdpNetworkNodeStates, nodeName, body, "status");
}

const programs = (...rows: readonly object[]) => ({
  status: { programs: rows.map((row) => expect.objectContaining(row)) },
});
const stateBecomes = (expected: object, withinMs?: number) =>
  becomes(afxdpNetworkNodeStates, nodeName, expected, withinMs);

async function objectsOf(type: ResourceType): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const list = await user.request({ method: "GET", path: collectionPath(type) });
  const items: unknown = recordAt(list)["items"];
  return Array.isArray(items) ? items.map((item: unknown) => recordAt(item)) : [];
}

const uidOf = (object: Readonly<Record<string, unknown>> | undefined): unknown => recordAt(object, "metadata")["uid"];
const nameIn = (object: Readonly<Record<string, unknown>> | undefined): string =>
  String(recordAt(object, "metadata")["name"]);

async function theApplication(): Promise<Readonly<Record<string, unknown>>> {
  const [first, ...more] = await objectsOf(clusterBpfApplications);
  expect(more).toEqual([]);
  return first ?? {};
}

async function gone(type: ResourceType): Promise<void> {
  await eventually(`no ${type.kind} is left`, async () => (await objectsOf(type)).length === 0, { withinMs: 60_000 });
}

/** The ID of the program in the only row. */
async function lastProgramID(): Promise<number> {
  const rows = recordAt(await read(afxdpNetworkNodeStates, nodeName), "status")["programs"];
  return Number(recordAt(Array.isArray(rows) ? rows[0] : undefined)["programID"]);
}

describe("the operator with loader bpfman", () => {
  it("says on the AfxdpOperatorConfig that bpfman is not installed, and creates nothing", async () => {
    await create(afxdpOperatorConfigs, "default", { loader: "bpfman" });
    await create(afxdpNetworkNodePolicies, "fast", policySpec);
    await becomes(afxdpOperatorConfigs, "default", {
      status: ready("False", "UnsupportedConfiguration", "spec.loader: bpfman is not installed: the API server has"),
    });
    await stateBecomes({ spec: { interfaces: [] } });
    await report({ interfaces: [nic], syncStatus: "Succeeded" });
    await stateBecomes({ spec: { interfaces: [{ pciAddress: device }] } });
  });

  it("finds bpfman 0.5 when it is installed, and creates an XdpProgram when the node is ready for it", async () => {
    await installBpfman("0.5");
    await stateBecomes(programs({ device, interfaceName: "ens1f0" }));
    await eventually("the config has no problem with the loader", async () => {
      const status = recordAt(await read(afxdpOperatorConfigs, "default"), "status");
      return !JSON.stringify(status).includes("spec.loader");
    });
    expect(await objectsOf(xdpPrograms)).toEqual([]);
    await report({ bpfman: { readyDevices: [device], releasedPrograms: [] } });
    await stateBecomes(programs({ device, programID: 101 }));
    expect(await objectsOf(xdpPrograms)).toMatchObject([
      {
        metadata: {
          annotations: { "switchyard.io/afxdp-node": nodeName },
          ownerReferences: [{ kind: "ClusterRole", name: componentSettings.operatorServiceAccount }],
        },
        spec: {
          bpffunctionname: "xsk_redirect",
          bytecode: { path: "/var/lib/bpfman/switchyard/xsk_redirect.o" },
          nodeselector: { matchLabels: { "kubernetes.io/hostname": nodeName } },
          interfaceselector: { interfaces: ["ens1f0"] },
          priority: 1000,
          proceedon: ["pass", "dispatcher_return"],
        },
      },
    ]);
  });

  it("uses ClusterBpfApplications after an upgrade to bpfman 0.6", async () => {
    for (const [{ group, plural }] of bpfmanTypes("0.5"))
      await cluster.kubectl(["delete", "crd", `${plural}.${group}`]);
    await agent?.[Symbol.asyncDispose]();
    await installBpfman("0.6");
    await stateBecomes(programs({ device, programID: 102 }));
    expect(await theApplication()).toMatchObject({
      metadata: { annotations: { "switchyard.io/afxdp-device": device } },
      spec: {
        byteCode: { path: "/var/lib/bpfman/switchyard/xsk_redirect.o" },
        programs: [
          { name: "xsk_redirect", type: "XDP", xdp: { links: [{ interfaceSelector: { interfaces: ["ens1f0"] } }] } },
        ],
      },
    });
    await report({ pools: [{ name: "fast", announced: 1, allocatable: 1 }] });
    await becomes(afxdpNetworkNodePolicies, "fast", { status: ready("True", "Configured", "1 of 1 nodes") });
  });

  it("has written what `switchyard render` prints for the cluster", async () => {
    const program = join(workspace, "apps/cli/bin/switchyard.mjs");
    const args = ["render", "--kubeconfig", cluster.kubeconfig, "--namespace", namespace];
    const only = ["--only", "ClusterBpfApplication", "-o", "json"];
    const { stdout, stderr } = await runProgram(process.execPath, [program, ...args, ...only]);
    expect(stderr).toBe("");
    const { metadata, spec } = await theApplication();
    const { name, labels, annotations } = recordAt(metadata);
    expect(JSON.parse(stdout)).toMatchObject({ items: [{ metadata: { name, labels, annotations }, spec }] });
  });

  it("writes nothing if nothing changes, also after a restart", async () => {
    await operator.kill();
    operator = await startOperator();
    await create(afxdpNetworkNodePolicies, "none", { ...policySpec, nicSelector: { pfNames: ["none"] } });
    await becomes(afxdpNetworkNodePolicies, "none", { status: ready("False", "NoNicsMatched", nodeName) });
    const versions = async () => [await theApplication(), await read(afxdpNetworkNodeStates, nodeName)];
    const before = await versions();
    await operator.kill();
    operator = await startOperator();
    await merge(afxdpNetworkNodePolicies, "none", { spec: { nicSelector: { pfNames: ["other"] } } });
    await becomes(afxdpNetworkNodePolicies, "none", { status: { observedGeneration: 2 } });
    expect(await versions()).toEqual(before);
    await remove(afxdpNetworkNodePolicies, "none");
  });

  it("changes the link of the object when the interface has another name", async () => {
    const before = uidOf(await theApplication());
    await report({ interfaces: [{ ...nic, name: "enp134s0", altNames: ["ens1f0"] }] });
    await stateBecomes(programs({ device, interfaceName: "enp134s0", programID: 102 }));
    expect(uidOf(await theApplication())).toBe(before);
    await report({ interfaces: [nic] });
    await stateBecomes(programs({ device, interfaceName: "ens1f0", programID: 102 }));
  });

  it("keeps the program while the device is in a pod, and while the node state is missing", async () => {
    const before = await theApplication();
    const { name: _, ...inPod } = nic;
    await report({ interfaces: [{ ...inPod, recordedNames: ["ens1f0"], owned: true }] });
    await remove(afxdpNetworkNodeStates, nodeName);
    await eventually(
      "the state exists again",
      async () => (await read(afxdpNetworkNodeStates, nodeName)) !== undefined,
    );
    await report({
      interfaces: [nic],
      bpfman: { readyDevices: [device], releasedPrograms: [] },
      syncStatus: "Succeeded",
    });
    await stateBecomes(programs({ device, programID: 102 }));
    expect(uidOf(await theApplication())).toBe(uidOf(before));
  });

  it("replaces the object when the program changes, as soon as no pod has the device, also across a kill", async () => {
    const before = await theApplication();
    const program = { functionName: "other_prog", image: { url: "registry.example.com/xdp:1" } };
    await merge(afxdpOperatorConfigs, "default", { spec: { bpfman: { program } } });
    await stateBecomes(programs({ device, programID: 102, release: true }));
    expect(uidOf(await theApplication())).toBe(uidOf(before));
    await operator.kill();
    await report({ bpfman: { readyDevices: [device], releasedPrograms: [102] } });
    operator = await startOperator();
    await stateBecomes(programs({ device, programID: 103 }));
    expect(await theApplication()).toMatchObject({
      spec: { byteCode: { image: { url: "registry.example.com/xdp:1", imagePullPolicy: "IfNotPresent" } } },
    });
    expect(uidOf(await theApplication())).not.toBe(uidOf(before));
    expect(loads.at(-1)).toEqual({ path: "", image: "registry.example.com/xdp:1", functionName: "other_prog" });
  });

  it("reports within a second what bpfman could not attach or load, and takes the error back", async () => {
    for (const what of ["attach", "load"] as const) {
      refusal = what;
      const id = await lastProgramID();
      await report({ bpfman: { readyDevices: [device], releasedPrograms: Number.isNaN(id) ? [] : [id] } });
      const path = `/var/lib/bpfman/${what}.o`;
      await merge(afxdpOperatorConfigs, "default", {
        spec: { bpfman: { program: { functionName: "other_prog", image: null, path } } },
      });
      await eventually("the object is replaced", async () => {
        return recordAt(await theApplication().catch(() => ({})), "spec", "byteCode")["path"] === path;
      });
      await stateBecomes(programs({ error: expect.stringContaining(`bpfman could not ${what} the program`) }));
      await becomes(
        afxdpNetworkNodePolicies,
        "fast",
        { status: ready("False", "NodesFailed", `pool fast: device ens1f0: bpfman could not ${what} the program`) },
        2_000, // a policy is written once a second at most
      );
    }
    refusal = undefined;
    await becomes(afxdpNetworkNodePolicies, "fast", { status: ready("True", "Configured", "") });
  });

  it("leaves an object of somebody else with the same name alone, and says so", async () => {
    const own = nameIn(await theApplication());
    await merge(afxdpNetworkNodePolicies, "fast", { spec: { nicSelector: { pfNames: ["ens1f0", "ens1f1"] } } });
    await report({ interfaces: [nic, otherNic] });
    await stateBecomes(programs({ device }, { device: otherNic.pciAddress }));
    const rows = recordAt(await read(afxdpNetworkNodeStates, nodeName), "status")["programs"];
    const foreign = String(recordAt(Array.isArray(rows) ? rows[1] : undefined)["objectName"]);
    expect(foreign).not.toBe(own);
    const spec = { nodeSelector: {}, byteCode: { path: "/somebody/else.o" }, programs: [] };
    await create(clusterBpfApplications, foreign, spec);
    await report({ bpfman: { readyDevices: [device, otherNic.pciAddress], releasedPrograms: [] } });
    await stateBecomes(
      programs({ device }, { error: expect.stringContaining(`${foreign} exists, but the operator did not create it`) }),
    );
    expect(await read(clusterBpfApplications, foreign)).toMatchObject({ spec });
    await remove(clusterBpfApplications, foreign);
    await stateBecomes(programs({ device }, { device: otherNic.pciAddress, programID: expect.any(Number) }));
    await merge(afxdpNetworkNodePolicies, "fast", { spec: policySpec });
    const second = programs({ device }, { device: otherNic.pciAddress, release: true });
    await stateBecomes(second);
    const ids = loads.map((_, at) => 101 + at);
    await report({ bpfman: { readyDevices: [device], releasedPrograms: ids.slice(-1) } });
    await stateBecomes(programs({ device }));
  });

  it("removes the object with loader builtin, after the plugin has confirmed it, and creates it again", async () => {
    await merge(afxdpOperatorConfigs, "default", { spec: { loader: "builtin" } });
    await stateBecomes(programs({ device, release: true }));
    expect(await objectsOf(clusterBpfApplications)).toHaveLength(1);
    await report({ bpfman: { readyDevices: [], releasedPrograms: [await lastProgramID()] } });
    await gone(clusterBpfApplications);
    await eventually("the rows are gone", async () => {
      return recordAt(await read(afxdpNetworkNodeStates, nodeName), "status")["programs"] === undefined;
    });
    await merge(afxdpOperatorConfigs, "default", { spec: { loader: "bpfman" } });
    await report({ bpfman: { readyDevices: [device], releasedPrograms: [] } });
    await stateBecomes(programs({ device, programID: expect.any(Number) }));
  });

  it("removes the object with the policy", async () => {
    await remove(afxdpNetworkNodePolicies, "fast");
    await stateBecomes(programs({ device, release: true }));
    await report({ bpfman: { readyDevices: [], releasedPrograms: [await lastProgramID()] } });
    await gone(clusterBpfApplications);
  });

  it("removes all objects when the AfxdpOperatorConfig is deleted", async () => {
    await create(afxdpNetworkNodePolicies, "fast", policySpec);
    await report({ interfaces: [nic], bpfman: { readyDevices: [device], releasedPrograms: [] } });
    await stateBecomes(programs({ device, programID: expect.any(Number) }));
    await remove(afxdpOperatorConfigs, "default");
    await gone(clusterBpfApplications);
  });

  it("removes the objects of a node that is gone", async () => {
    await create(afxdpOperatorConfigs, "default", { loader: "bpfman" });
    await eventually("the state exists", async () => (await read(afxdpNetworkNodeStates, nodeName)) !== undefined);
    await report({ interfaces: [nic], bpfman: { readyDevices: [device], releasedPrograms: [] } });
    await stateBecomes(programs({ device, programID: expect.any(Number) }));
    await remove(nodes, nodeName);
    await gone(clusterBpfApplications);
  });

  it("was refused no request", async () => {
    // Not by 403 alone: the API server also refuses to create objects of a kind that is being deleted.
    const refused = (await cluster.auditEvents()).filter(({ user: by, annotations }) => {
      return by.username === operatorUser && annotations?.["authorization.k8s.io/decision"] === "forbid";
    });
    expect(refused).toEqual([]);
  });
});
