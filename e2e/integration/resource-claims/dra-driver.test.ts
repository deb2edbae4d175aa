// SPDX-License-Identifier: Apache-2.0
/**
 * The DRA driver on a real API server, on a fake kernel and with the kubelet's gRPC. Its token is bound to its node and has only the rights
 * that it needs. The test plays the scheduler: it writes the allocation of claims.
 */
import { afterAll, beforeAll, expect, it } from "@jest/globals";
import {
  draDriverName,
  nodes,
  resourceClaims,
  resourceSlices,
  sriovNetworkNodeStates,
  type ResourceSlice,
  type SriovNetworkNodeState,
} from "@switchyard/api";
import { createClaimsWorld, nodeName, type ClaimsWorld } from "@switchyard/dra-driver/testing";
import { serveNode, type ServeNodeOptions } from "@switchyard/dra-driver/serve-node";
import { collectionPath, connect, objectPath, type Transport } from "@switchyard/kube";
import { startFakeKubelet, type FakeKubelet } from "@switchyard/kubelet/testing";
import { createDraKubelet, type DraKubelet } from "@switchyard/kubelet/testing/dra";
import { Registry } from "@switchyard/service";
import { silentLogger } from "@switchyard/service/testing";
import { namespace } from "@switchyard/test-cluster";
import { eventually, findWorkspaceRoot, startControlPlane, type ControlPlane } from "@switchyard/testing";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

const stack = new AsyncDisposableStack();
let cluster: ControlPlane;
let admin: Transport;
let world: ClaimsWorld;
let kubelet: FakeKubelet;
let driver: DraKubelet;
/** Starts a process of the driver. */
let start: (more?: Partial<ServeNodeOptions>) => AsyncDisposable;
let running: AsyncDisposable;

/** What the driver needs, as [verbs, resource]. */
const rights = [
  ["get", "nodes"],
  ["get,list,watch", `${sriovNetworkNodeStates.plural}.${sriovNetworkNodeStates.group}`],
  ["patch", `${sriovNetworkNodeStates.plural}.${sriovNetworkNodeStates.group}/status`],
  ["get,list,watch,create,patch,delete", "resourceslices.resource.k8s.io"],
  ["get,list", "resourceclaims.resource.k8s.io"],
  ["patch", "resourceclaims.resource.k8s.io/status"],
  ["associated-node:patch", "resourceclaims.resource.k8s.io/driver"],
] as const;

beforeAll(async () => {
  cluster = stack.use(await startControlPlane({}));
  const directory = await mkdtemp(join(tmpdir(), "switchyard-dra-"));
  stack.defer(() => rm(directory, { recursive: true, force: true }));
  await cluster.applyCrds(join(findWorkspaceRoot(), "charts/switchyard/crds"));
  await cluster.kubectl(["create", "namespace", namespace]);
  admin = stack.use(await connect({ kubeconfig: cluster.kubeconfig }));
  const node = { apiVersion: "v1", kind: "Node", metadata: { name: nodeName } };
  await admin.request({ method: "POST", path: collectionPath(nodes), body: node });
  await cluster.kubectl(["create", "serviceaccount", "dra-driver", "-n", namespace]);
  const rules = rights.map(([verbs, resource]) => {
    const [whole = "", subresource] = resource.split("/");
    const [plural = "", ...group] = whole.split(".");
    const resources = [subresource === undefined ? plural : `${plural}/${subresource}`];
    return { apiGroups: [group.join(".")], resources, verbs: verbs.split(",") };
  });
  const role = {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "ClusterRole",
    metadata: { name: "dra-driver" },
    rules,
  };
  await cluster.kubectl(["apply", "-f", "-"], { input: JSON.stringify(role) });
  const account = `--serviceaccount=${namespace}:dra-driver`;
  await cluster.kubectl(["create", "clusterrolebinding", "dra-driver", "--clusterrole=dra-driver", account]);
  const bound = ["--bound-object-kind=Node", `--bound-object-name=${nodeName}`];
  const token = (await cluster.kubectl(["create", "token", "dra-driver", "-n", namespace, ...bound])).trim();

  world = await createClaimsWorld();
  await writeState(world.state);
  kubelet = stack.use(await startFakeKubelet(directory));
  const transport = stack.use(await connect({ kubeconfig: await cluster.clientFor({ token }) }));
  start = (more = {}) => {
    const end = new AbortController();
    const serving = serveNode({
      ...{ transport, namespace, nodeName, resourcePrefix: "openshift.io" },
      host: world.kernel.host(),
      kubelet: { directory, onHost: directory },
      ...{ maxCacheAge: 60_000, log: silentLogger, metrics: new Registry(), setNotReady: () => undefined },
      signal: end.signal,
      ...more,
    });
    return {
      async [Symbol.asyncDispose]() {
        end.abort();
        await serving.catch((error: unknown) => {
          if (error !== end.signal.reason) throw error;
        });
      },
    };
  };
  running = start();
  stack.defer(() => running[Symbol.asyncDispose]());
  driver = stack.use(createDraKubelet(directory));
  await eventually("the driver is there", async () => (await driver.register(draDriverName)).name !== "");
}, 600_000);

afterAll(() => stack.disposeAsync(), 60_000);

async function writeState({ spec, status }: SriovNetworkNodeState): Promise<void> {
  const metadata = { name: nodeName, namespace };
  const object = { apiVersion: "sriovnetwork.openshift.io/v1", kind: "SriovNetworkNodeState", metadata };
  const bootID = await world.kernel.host().boot.readBootId();
  const nics = (status?.interfaces ?? []).map((nic) => ({
    ...nic,
    linkType: "ETH",
    Vfs: (nic.Vfs ?? []).map((vf) => ({ ...vf, driver: "igbvf", name: `v${vf.vfID}`, adminMac: "02:00:00:00:00:01" })),
  }));
  const whole = {
    ...object,
    spec: { ...spec, allocation: "dra" },
    status: { interfaces: nics, bootID, offeredBy: "dra" },
  };
  await cluster.kubectl(["apply", "--server-side", "-f", "-"], { input: JSON.stringify(whole) });
  const path = objectPath(sriovNetworkNodeStates, metadata, "status");
  const body = { ...object, status: whole.status };
  await admin.request({
    method: "PATCH",
    path,
    query: { fieldManager: "daemon", force: true },
    contentType: "application/apply-patch+yaml",
    body,
  });
}

async function slices(): Promise<readonly ResourceSlice[]> {
  const list = (await admin.request({ method: "GET", path: collectionPath(resourceSlices) })) as {
    items: ResourceSlice[];
  };
  return list.items;
}

/** Creates a claim and allocates VFs to it, as the scheduler does. Returns how the kubelet names it. */
async function allocate(name: string, devices: readonly string[], driverName = "vfio-pci") {
  // In the order of kubectl: server-side apply sorts the fields, and the API server (1.36) takes another order for a changed allocation.
  const parameters = { apiVersion: `${draDriverName}/v1alpha1`, driver: driverName, kind: "VfConfig" };
  const body = {
    apiVersion: "resource.k8s.io/v1",
    kind: "ResourceClaim",
    metadata: { name, namespace: "default" },
    spec: {
      devices: {
        requests: [
          { name: "nic", exactly: { deviceClassName: "fast", allocationMode: "ExactCount", count: devices.length } },
        ],
        config: [{ opaque: { driver: draDriverName, parameters } }],
      },
    },
  };
  const claim = (await admin.request({
    method: "POST",
    path: collectionPath(resourceClaims, "default"),
    body,
  })) as typeof body & { metadata: { uid: string } };
  const results = devices.map((device) => ({ driver: draDriverName, pool: nodeName, request: "nic", device }));
  const nodeSelector = {
    nodeSelectorTerms: [{ matchFields: [{ key: "metadata.name", operator: "In", values: [nodeName] }] }],
  };
  const config = [{ source: "FromClaim", opaque: { driver: draDriverName, parameters } }];
  const status = { allocation: { devices: { results, config }, nodeSelector } };
  await admin.request({
    method: "PUT",
    path: objectPath(resourceClaims, { name, namespace: "default" }, "status"),
    body: { ...claim, status },
  });
  return { namespace: "default", name, uid: claim.metadata.uid };
}

it("publishes the VFs of the node in slices that the API server accepts, and is then idle", async () => {
  const [slice] = await eventually("a slice", async () => (await slices()).length > 0 && slices());
  expect(slice?.spec).toMatchObject({
    driver: draDriverName,
    nodeName,
    pool: { name: nodeName, generation: 1, resourceSliceCount: 1 },
  });
  expect(slice?.spec.devices.map(({ taints }) => taints)).toEqual(world.vfs.map(() => undefined));
  await eventually("the number of VFs in the node state", async () => {
    const state = (await admin.request({
      method: "GET",
      path: objectPath(sriovNetworkNodeStates, { name: nodeName, namespace }),
    })) as SriovNetworkNodeState;
    return state.status?.publishedVfs === 4;
  });
});

it("prepares a claim with the driver that it asks for, reports it in the claim, and gives the VFs back", async () => {
  const devices = ((await slices())[0]?.spec.devices ?? []).map(({ name }) => name);
  const claim = await allocate("vm", devices.slice(0, 2));
  expect((await driver.prepare([claim])).get(claim.uid)).toEqual({
    devices: devices.slice(0, 2).map((device, nth) => ({
      requests: ["nic"],
      pool: nodeName,
      device,
      cdiDevices: [`${draDriverName}/vf-${claim.uid}=${world.vfs[nth] ?? ""}`],
    })),
  });
  expect(await world.drivers()).toEqual(["vfio-pci", "vfio-pci", "igbvf", "igbvf"]);
  const path = objectPath(resourceClaims, claim);
  await eventually("the status of the claim", async () => {
    const { status } = (await admin.request({ method: "GET", path })) as {
      status: { devices?: readonly { device: string }[] };
    };
    return status.devices?.map(({ device }) => device).join() === devices.slice(0, 2).join();
  });
  const thief = await allocate("thief", devices.slice(1, 2));
  expect((await driver.prepare([claim, thief])).get(thief.uid)).toEqual({
    error: expect.stringContaining("is prepared for claim default/vm"),
  });
  expect([...(await driver.unprepare([claim, thief])).values()]).toEqual([undefined, undefined]);
  expect(await world.drivers()).toEqual(["igbvf", "igbvf", "igbvf", "igbvf"]);
});

it("taints all VFs of a PF that is gone, and tells the kubelet", async () => {
  world.kernel.unplug(world.state.status?.interfaces?.[0]?.pciAddress as never);
  const found = await eventually("a taint", async () => {
    const [slice] = await slices();
    return (
      slice?.spec.devices.every(({ taints = [] }) => taints.some(({ value }) => value === "pf-gone")) === true && slice
    );
  });
  expect(found.spec.pool.generation).toBe(1);
  const health = await driver.untilHealth((list) => list.some((device) => device.health === "unhealthy"));
  expect(health[0]?.message).toMatch(/^PF .* does not exist any longer$/);
  expect(kubelet.calls.list).toBeGreaterThan(0);
});

it("serves the kubelet by one process: another one waits, says why, and takes over when the first one ends", async () => {
  const problems: (() => readonly string[])[] = [];
  await using second = start({ setNotReady: (check) => problems.push(check) });
  await eventually("it waits", () =>
    Promise.resolve(problems.at(-1)?.().join().includes("another process of the DRA driver") === true),
  );
  expect((await driver.register(draDriverName)).name).toBe(draDriverName);
  await running[Symbol.asyncDispose]();
  running = second;
  await eventually("the second one answers", async () => {
    const found = await driver.register(draDriverName).catch(() => undefined);
    return found?.name === draDriverName;
  });
});
