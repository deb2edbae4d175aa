// SPDX-License-Identifier: Apache-2.0
/**
 * The operator and the kinds for AF_XDP on a real API server with a controller manager. The operator is a process with its
 * rights in a cluster. It starts without these kinds and finds them later. The test reports what a node's daemon would.
 */
import { afterAll, afterEach, beforeAll, describe, expect, it } from "@jest/globals";
import {
  afxdpNetworkNodePolicies,
  afxdpNetworkNodeStates,
  afxdpNetworks,
  afxdpOperatorConfigs,
  afxdpResources,
  networkAttachmentDefinitions,
  sriovNetworkNodeStates,
  sriovResources,
  type AfxdpInterfaceStatus,
} from "@switchyard/api";
import {
  apiVersionOf,
  collectionPath,
  connect,
  isRecord,
  objectPath,
  type ResourceType,
  type Transport,
} from "@switchyard/kube";
import { operatorIdentity } from "@switchyard/render";
import { eventually, startControlPlane, type ControlPlane } from "@switchyard/testing";
import { join } from "node:path";
import { applyCrdsOf, workspace } from "../../src/crds/crd-objects.ts";
import { deployedOperatorArguments } from "../../src/operator/operator-command.ts";
import { componentSettings, namespace } from "../../src/operator/identity-objects.ts";
import { spawnKept, type KeptProcess } from "../../src/kept-process.ts";
import { eventuallyMatches, readIfThere } from "../../src/api/plain-api.ts";

const operatorUser = `system:serviceaccount:${namespace}:${componentSettings.operatorServiceAccount}`;
const nadCrd = join(workspace, "libs/testing/testdata/multus/network-attachment-definitions.yaml");
const nodes = { group: "", version: "v1", kind: "Node", plural: "nodes", namespaced: false };
const nodeName = "worker-1";
const device: AfxdpInterfaceStatus = {
  pciAddress: "0000:86:00.0",
  name: "ens1f0",
  vendor: "8086",
  deviceID: "1592",
  driver: "ice",
  maxSfs: 64,
};
const hostDevice: AfxdpInterfaceStatus = {
  pciAddress: "0000:01:00.0",
  name: "eno1",
  driver: "igb",
  usedBy: ["default route"],
};

let cluster: ControlPlane;
let user: Transport;
let operator: KeptProcess;

beforeAll(async () => {
  cluster = await startControlPlane({ controllerManager: true, auditLog: true });
  await applyCrdsOf(cluster, sriovResources);
  user = await connect({ kubeconfig: cluster.kubeconfig, userAgent: "test" });
  await cluster.kubectl(["create", "namespace", namespace]);
  const identity = { apiVersion: "v1", kind: "List", items: operatorIdentity(componentSettings) };
  await cluster.kubectl(["create", "-f", "-"], { input: JSON.stringify(identity) });
  const labels = { "node-role.kubernetes.io/worker": "", "kubernetes.io/os": "linux" };
  const node = { apiVersion: "v1", kind: "Node", metadata: { name: nodeName, labels } };
  await user.request({ method: "POST", path: collectionPath(nodes), body: node });
  operator = await startOperator();
}, 600_000);

afterEach(() => operator.mustBeAlive());

afterAll(async () => {
  await operator.kill();
  await user[Symbol.asyncDispose]();
  await cluster[Symbol.asyncDispose]();
}, 60_000);

async function startOperator(): Promise<KeptProcess> {
  const args = await deployedOperatorArguments(cluster);
  return spawnKept(args, { log: join(cluster.dataDir, "operator.log"), name: "afxdp-operator" });
}

async function create(type: ResourceType, name: string, spec: object): Promise<void> {
  const body = { apiVersion: apiVersionOf(type), kind: type.kind, metadata: { name }, spec };
  await user.request({ method: "POST", path: collectionPath(type, namespace), body });
}

async function merge(type: ResourceType, name: string, body: object, subresource?: string): Promise<void> {
  const path = objectPath(type, { namespace, name }, subresource);
  await user.request({ method: "PATCH", path, contentType: "application/merge-patch+json", body });
}

async function remove(type: ResourceType, name: string): Promise<void> {
  await user.request({ method: "DELETE", path: objectPath(type, { namespace, name }) });
}

async function read(type: ResourceType, name: string): Promise<Readonly<Record<string, unknown>> | undefined> {
  const object = await readIfThere(user, objectPath(type, { namespace, name }));
  return isRecord(object) ? object : undefined;
}

function becomes(type: ResourceType, name: string, expected: object): Promise<void> {
  return eventuallyMatches(`${type.kind} ${name}`, () => read(type, name), expected);
}

/** The condition Ready of a status, in any place of the list. */
const ready = (status: string, reason: string, message: string): object => ({
  conditions: expect.arrayContaining([
    expect.objectContaining({ type: "Ready", status, reason, message: expect.stringContaining(message) }),
  ]),
});

/** Reports the devices as the daemon would, for the current generation. */
async function report(status: object): Promise<void> {
  const metadata = (await read(afxdpNetworkNodeStates, nodeName))?.["metadata"];
  const observedGeneration = isRecord(metadata) ? metadata["generation"] : undefined;
  await merge(afxdpNetworkNodeStates, nodeName, { status: { observedGeneration, ...status } }, "status");
}

const policySpec = {
  poolName: "fast",
  nodeSelector: { "node-role.kubernetes.io/worker": "" },
  nicSelector: { pfNames: ["ens1f0"] },
  numSfs: 4,
  uid: 1500,
};

describe("the operator", () => {
  it("works without the kinds for AF_XDP, and manages nothing until there is an AfxdpOperatorConfig", async () => {
    await applyCrdsOf(cluster, afxdpResources);
    await cluster.applyCrds(nadCrd);
    await create(afxdpNetworkNodePolicies, "fast", policySpec);
    const status = ready("False", "NoOperatorConfig", 'AfxdpOperatorConfig "default" does not exist');
    await becomes(afxdpNetworkNodePolicies, "fast", { status });
    expect(await read(afxdpNetworkNodeStates, nodeName)).toBeUndefined();
  });

  it("creates a state for each node, and merges policies as soon as the node has reported", async () => {
    await create(afxdpOperatorConfigs, "default", {});
    const owned = { ownerReferences: [{ kind: "AfxdpOperatorConfig", name: "default", controller: true }] };
    await becomes(afxdpNetworkNodeStates, nodeName, { metadata: owned, spec: { interfaces: [] } });
    await becomes(afxdpNetworkNodePolicies, "fast", { status: ready("False", "Configuring", "0 of 1 nodes") });
    await report({ interfaces: [hostDevice, device], syncStatus: "InProgress" });
    const pool = { name: "fast", mode: "subfunction", udsServer: true, uid: 1500 };
    const wanted = { pciAddress: "0000:86:00.0", name: "ens1f0", mode: "subfunction", poolName: "fast", numSfs: 4 };
    await becomes(afxdpNetworkNodeStates, nodeName, { spec: { interfaces: [wanted], pools: [pool] } });
    await becomes(afxdpNetworkNodePolicies, "fast", {
      status: { ...ready("False", "Configuring", "0 of 1 nodes configured"), matchedNodeCount: 1, readyNodeCount: 0 },
    });
  });

  it("counts the node as ready once its daemon has succeeded, and reports its error", async () => {
    const interfaces = [hostDevice, { ...device, owned: true }];
    await report({ interfaces, syncStatus: "Failed", lastSyncError: "add subfunction 3 on 0000:86:00.0: EBUSY" });
    await becomes(afxdpNetworkNodePolicies, "fast", {
      status: ready("False", "NodesFailed", "worker-1: add subfunction 3 on 0000:86:00.0: EBUSY"),
    });
    await report({ interfaces, syncStatus: "Succeeded", lastSyncError: "" });
    await becomes(afxdpNetworkNodePolicies, "fast", {
      status: { ...ready("True", "Configured", "1 of 1 nodes configured"), readyNodeCount: 1 },
    });
  });

  it("reports a policy for a device that the host uses, on the policy", async () => {
    await create(afxdpNetworkNodePolicies, "host", {
      ...policySpec,
      poolName: "host",
      nicSelector: { pfNames: ["eno1"] },
    });
    await becomes(afxdpNetworkNodePolicies, "host", {
      status: ready("False", "Invalid", "eno1 (0000:01:00.0) is not offered: the host uses it: default route"),
    });
    await remove(afxdpNetworkNodePolicies, "host");
  });

  it("creates the NetworkAttachmentDefinition of an AfxdpNetwork, for the provider of the config", async () => {
    await create(afxdpNetworks, "net", { poolName: "fast", ipam: '{"type": "static"}' });
    await becomes(networkAttachmentDefinitions, "net", {
      metadata: { annotations: { "k8s.v1.cni.cncf.io/resourceName": "afxdp/fast" } },
      spec: { config: expect.stringContaining('"type": "host-device"') },
    });
    await becomes(afxdpNetworks, "net", {
      status: ready("True", "NetworkReady", "NetworkAttachmentDefinition is provisioned"),
    });
    await merge(afxdpOperatorConfigs, "default", { spec: { provider: "upstream" } });
    await becomes(networkAttachmentDefinitions, "net", {
      spec: { config: expect.stringContaining('"type": "afxdp"') },
    });
    // The device plugin of upstream offers no subfunctions. Those that exist stay as they are.
    await becomes(afxdpNetworkNodePolicies, "fast", {
      status: ready("False", "Invalid", "spec.mode: must be primary with provider upstream"),
    });
    const spec = (await read(afxdpNetworkNodeStates, nodeName))?.["spec"];
    expect(spec).toEqual({ interfaces: [] });
    await merge(afxdpOperatorConfigs, "default", { spec: { provider: "switchyard" } });
    await becomes(afxdpNetworkNodeStates, nodeName, { spec: { interfaces: [{ name: "ens1f0", numSfs: 4 }] } });
    await report({ syncStatus: "Succeeded" });
    await becomes(afxdpNetworkNodePolicies, "fast", { status: ready("True", "Configured", "") });
    await becomes(networkAttachmentDefinitions, "net", {
      spec: { config: expect.stringContaining('"type": "host-device"') },
    });
    await remove(afxdpNetworks, "net");
    await eventually("the garbage collector deletes the NetworkAttachmentDefinition", async () => {
      return (await read(networkAttachmentDefinitions, "net")) === undefined;
    });
  });

  it("writes nothing after a restart if nothing changed", async () => {
    await operator.kill();
    operator = await startOperator();
    // The new process reconciles all objects before it shows this change on the policy.
    await merge(afxdpNetworkNodePolicies, "fast", { spec: { mtu: 1500 } });
    await becomes(afxdpNetworkNodeStates, nodeName, { spec: { interfaces: [{ mtu: 1500 }] } });
    await report({ syncStatus: "Succeeded" });
    await becomes(afxdpNetworkNodePolicies, "fast", {
      status: { ...ready("True", "Configured", ""), observedGeneration: 2 },
    });
    const versions = async () =>
      Promise.all([read(afxdpNetworkNodeStates, nodeName), read(afxdpNetworkNodePolicies, "fast")]);
    const before = await versions();
    await operator.kill();
    operator = await startOperator();
    // A second policy is reported by the new process, which has reconciled the first one by then or does so at once.
    await create(afxdpNetworkNodePolicies, "none", { ...policySpec, nicSelector: { pfNames: ["none"] } });
    await becomes(afxdpNetworkNodePolicies, "none", { status: ready("False", "NoNicsMatched", "worker-1") });
    await remove(afxdpNetworkNodePolicies, "none");
    expect(await versions()).toEqual(before);
  });

  it("takes the device away from AF_XDP when SR-IOV policies select it, and gives it back", async () => {
    const interfaces = [{ pciAddress: "0000:86:00.0", numVfs: 4 }];
    await create(sriovNetworkNodeStates, nodeName, { interfaces });
    await becomes(afxdpNetworkNodeStates, nodeName, { spec: { interfaces: [], unselected: ["0000:86:00.0"] } });
    await becomes(afxdpNetworkNodePolicies, "fast", {
      status: ready("False", "Invalid", "ens1f0 (0000:86:00.0) is not offered: SR-IOV policies select it"),
    });
    await remove(sriovNetworkNodeStates, nodeName);
    await becomes(afxdpNetworkNodeStates, nodeName, { spec: { interfaces: [{ pciAddress: "0000:86:00.0" }] } });
  });

  it("has the node reset a device whose policy is deleted, until the node has done so", async () => {
    await remove(afxdpNetworkNodePolicies, "fast");
    await becomes(afxdpNetworkNodeStates, nodeName, { spec: { interfaces: [], unselected: ["0000:86:00.0"] } });
    await report({ interfaces: [hostDevice, device], syncStatus: "Succeeded" });
    await eventually("nothing is left to reset", async () => {
      const spec = (await read(afxdpNetworkNodeStates, nodeName))?.["spec"];
      return isRecord(spec) && spec["unselected"] === undefined && spec["pools"] === undefined;
    });
  });

  it("leaves no state behind when the AfxdpOperatorConfig is deleted", async () => {
    await remove(afxdpOperatorConfigs, "default");
    await eventually("the garbage collector deletes the state", async () => {
      return (await read(afxdpNetworkNodeStates, nodeName)) === undefined;
    });
  });

  it("was refused no request", async () => {
    const refused = (await cluster.auditEvents()).filter(({ user: by, responseStatus, requestURI }) => {
      return by.username === operatorUser && responseStatus?.code === 403 && requestURI.includes("afxdp");
    });
    expect(refused).toEqual([]);
  });
});
