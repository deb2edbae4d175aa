// SPDX-License-Identifier: Apache-2.0
/**
 * Pods ask for VFs on the PCIe root of a GPU, as docs/guide/dra.md says, with a real scheduler and 16 nodes that are API objects. Each
 * node has eight roots with a PF and a GPU; the slices of the GPUs are the test's. POD_COUNT is the number of pods, SEED repeats a run.
 */
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { draDriverName, nodes, resourceClaims, type ResourceSlice } from "@switchyard/api";
import { connect, listPages, objectPath, type Transport } from "@switchyard/kube";
import { addressOfDevice, renderDeviceClasses, renderResourceSlices } from "@switchyard/render";
import { eventually, findWorkspaceRoot, startControlPlane, type ControlPlane } from "@switchyard/testing";
import fc from "fast-check";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fieldAt } from "../src/api/plain-api.ts";
import { keepNodesReady, type PodOnNode } from "@switchyard/test-cluster";
import { listPods } from "./node-pods.ts";

const podCount = Number(process.env["POD_COUNT"] ?? "500");
const seed = Number(process.env["SEED"] ?? Date.now() % 1_000_000);
const podsPerWave = 100;
const roots = 8;
const vfsPerPf = 2;
const gpuDriver = "gpu.example.com";
const nodeNames = Array.from({ length: 16 }, (_, index) => `node-${index}`);

/** What the pods of a template ask for: pairs of a GPU and a VF of one root, or VFs of any root. */
const templates = {
  "gpu-and-vf": { pairs: 1, vfs: 0 },
  "two-pairs": { pairs: 2, vfs: 0 },
  "one-vf": { pairs: 0, vfs: 1 },
  "three-vfs": { pairs: 0, vfs: 3 },
} as const;
type TemplateName = keyof typeof templates;
const templateNames = Object.keys(templates) as TemplateName[];

const stack = new AsyncDisposableStack();
let cluster: ControlPlane;
let transport: Transport;

beforeAll(async () => {
  cluster = stack.use(await startControlPlane({ scheduler: true }));
  transport = stack.use(await connect({ kubeconfig: cluster.kubeconfig }));
  await create(...nodeNames.map((name) => ({ apiVersion: "v1", kind: "Node", metadata: { name } })));
  stack.use(await keepNodesReady(transport, nodeNames));
  await create(...renderDeviceClasses({ prefix: "openshift.io", resourceNames: ["fast"] }), gpuClass());
  for (const name of nodeNames) await create(...vfSlices(name, await allowPods(name)), gpuSlice(name));
  await cluster.kubectl(["create", "-f", "-"], { input: await templateOfGuide() });
  await create(template("two-pairs"), template("one-vf"), template("three-vfs"));
}, 300_000);
afterAll(async () => {
  await stack.disposeAsync();
});

describe("claims for a VF beside a GPU", () => {
  it("get both on one PCIe root, and wait only while no node has them", async () => {
    const waves = fc.sample(
      fc.record({
        pods: fc.array(fc.constantFrom(...templateNames), { minLength: podsPerWave, maxLength: podsPerWave }),
        leaving: fc.double({ min: 0.2, max: 0.5, noNaN: true }),
      }),
      { numRuns: Math.ceil(podCount / podsPerWave), seed },
    );
    process.stderr.write(`seed ${seed}\n`);
    let waited = 0;
    for (const [nth, { pods, leaving }] of waves.entries()) {
      await create(...pods.map((name, index) => podOf(name, `w${nth}-${index}`)));
      const { running, pending } = await settled();
      waited += pending.length;
      process.stderr.write(`wave ${nth + 1} of ${waves.length}: ${running.length} placed, ${pending.length} wait\n`);
      await remove([...running.slice(0, Math.ceil(running.length * leaving)), ...pending]);
    }
    expect(waited).toBeGreaterThan(0);
  }, 1_800_000);
});

/** Waits until no pod waits that a node could take. Throws if a pod has what it did not ask for, or what another pod has. */
async function settled(): Promise<{ readonly running: readonly PodOnNode[]; readonly pending: readonly PodOnNode[] }> {
  return eventually(
    "every pod is placed that a node can take",
    async () => {
      const pods = await listPods(transport, {});
      const used = await devicesInUse();
      const running = pods.filter(({ spec }) => spec.nodeName !== undefined);
      const pending = pods.filter(({ spec }) => spec.nodeName === undefined);
      const mustBePlaced = pending.filter((pod) => nodeNames.some((name) => fits(pod, freeOn(name, used))));
      return mustBePlaced.length === 0 ? { running, pending } : undefined;
    },
    { withinMs: 300_000, everyMs: 500 },
  );
}

/** Devices of all claims, as "node/root/gpu" and "node/root/VF". */
async function devicesInUse(): Promise<ReadonlySet<string>> {
  const used = new Set<string>();
  const misplaced: string[] = [];
  for await (const { items } of listPages(transport, { type: resourceClaims })) {
    for (const claim of items) {
      const pairs = new Map<string, Set<string>>();
      for (const { driver, pool, device, request } of allocatedTo(claim)) {
        const address = driver === draDriverName ? (addressOfDevice(device) ?? "") : device;
        const root = rootOf(address);
        const key = `${pool}/${root}/${address}`;
        if (used.has(key)) misplaced.push(`${key} twice`);
        used.add(key);
        const [, pair] = /^(?:gpu|nic)(\d*)$/.exec(request) ?? [];
        if (pair !== undefined) pairs.set(pair, (pairs.get(pair) ?? new Set()).add(root));
      }
      for (const [pair, found] of pairs)
        if (found.size > 1) misplaced.push(`${claim.metadata.name}, pair ${pair}: ${[...found].join()}`);
    }
  }
  expect(misplaced).toEqual([]);
  return used;
}

interface AllocationResult {
  readonly request: string;
  readonly driver: string;
  readonly pool: string;
  readonly device: string;
}

function allocatedTo(claim: object): readonly AllocationResult[] {
  const results = fieldAt(claim, "status", "allocation", "devices", "results");
  return Array.isArray(results) ? (results as readonly AllocationResult[]) : [];
}

/** Free VFs of each root of a node, and whether its GPU is free. */
type Free = readonly { readonly vfs: number; readonly hasGpu: boolean }[];

function freeOn(node: string, used: ReadonlySet<string>): Free {
  return Array.from({ length: roots }, (_, root) => ({
    vfs: Array.from({ length: vfsPerPf }, (_each, vf) => vfAddress(root, vf)).filter(
      (address) => !used.has(`${node}/${root}/${address}`),
    ).length,
    hasGpu: !used.has(`${node}/${root}/${gpuName(root)}`),
  }));
}

function fits({ metadata }: PodOnNode, free: Free): boolean {
  const wanted = templates[templateNames.find((name) => metadata.name.startsWith(name)) ?? "one-vf"];
  const pairs = free.filter(({ vfs, hasGpu }) => hasGpu && vfs > 0).length;
  return wanted.pairs > 0 ? pairs >= wanted.pairs : free.reduce((sum, { vfs }) => sum + vfs, 0) >= wanted.vfs;
}

const pfAddress = (root: number) => `0000:${root}0:00.0`;
const vfAddress = (root: number, vf: number) => `0000:${root}0:01.${vf}`;
const gpuName = (root: number) => `gpu-${root}`;
const rootName = (root: number) => `pci0000:${root}0`;
/** The root of a VF's address, or of a GPU's name. */
const rootOf = (device: string) => /^0000:(\d)0:|^gpu-(\d)$/.exec(device)?.slice(1).find(Boolean) ?? "";

function vfSlices(name: string, nodeUid: string): readonly ResourceSlice[] {
  const interfaces = Array.from({ length: roots }, (_, root) => ({
    pciAddress: pfAddress(root),
    name: `ens${root}`,
    pcieRoot: rootName(root),
    Vfs: Array.from({ length: vfsPerPf }, (_each, vfID) => ({ pciAddress: vfAddress(root, vfID), vfID })),
  }));
  const vfGroups = [{ resourceName: "fast", vfRange: `0-${vfsPerPf - 1}` }];
  return renderResourceSlices({
    nodeName: name,
    nodeUid,
    state: {
      apiVersion: "sriovnetwork.openshift.io/v1",
      kind: "SriovNetworkNodeState",
      metadata: { name },
      spec: { interfaces: interfaces.map(({ pciAddress }) => ({ pciAddress, vfGroups })) },
      status: { interfaces },
    },
    resources: { prefix: "openshift.io" },
    withheld: new Map(),
    taints: new Map(),
  });
}

function gpuSlice(nodeName: string): object {
  const devices = Array.from({ length: roots }, (_, root) => ({
    name: gpuName(root),
    attributes: { "resource.kubernetes.io/pcieRoot": { string: rootName(root) } },
  }));
  return {
    apiVersion: "resource.k8s.io/v1",
    kind: "ResourceSlice",
    metadata: { name: `${nodeName}-gpus` },
    spec: {
      driver: gpuDriver,
      nodeName,
      pool: { name: nodeName, generation: 1, resourceSliceCount: 1 },
      devices,
    },
  };
}

function gpuClass(): object {
  const selectors = [{ cel: { expression: `device.driver == "${gpuDriver}"` } }];
  return {
    apiVersion: "resource.k8s.io/v1",
    kind: "DeviceClass",
    metadata: { name: gpuDriver },
    spec: { selectors },
  };
}

/** The manifest of the guide, in the namespace of the test. */
async function templateOfGuide(): Promise<string> {
  const guide = await readFile(join(findWorkspaceRoot(), "docs/guide/dra.md"), "utf8");
  const [, manifest] = /```yaml\n((?:(?!```)[^])*name: gpu-and-vf\n[^]*?)```/.exec(guide) ?? [];
  if (manifest === undefined) throw new Error("docs/guide/dra.md has no manifest gpu-and-vf");
  return manifest.replace("namespace: tenant-a", "namespace: default");
}

function template(name: TemplateName): object {
  const { pairs, vfs } = templates[name];
  const exactly = (deviceClassName: string, count = 1) => ({ exactly: { deviceClassName, count } });
  const numbers = Array.from({ length: pairs }, (_, index) => index);
  const requests = numbers.flatMap((nth) => [
    { name: `gpu${nth}`, ...exactly(gpuDriver) },
    { name: `nic${nth}`, ...exactly("fast") },
  ]);
  const constraints = numbers.map((nth) => ({
    requests: [`gpu${nth}`, `nic${nth}`],
    matchAttribute: "resource.kubernetes.io/pcieRoot",
  }));
  const devices = pairs > 0 ? { requests, constraints } : { requests: [{ name: "vfs", ...exactly("fast", vfs) }] };
  return {
    apiVersion: "resource.k8s.io/v1",
    kind: "ResourceClaimTemplate",
    metadata: { name, namespace: "default" },
    spec: { spec: { devices } },
  };
}

function podOf(resourceClaimTemplateName: TemplateName, suffix: string): object {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: `${resourceClaimTemplateName}-${suffix}`, namespace: "default" },
    spec: {
      terminationGracePeriodSeconds: 0,
      resourceClaims: [{ name: "devices", resourceClaimTemplateName }],
      containers: [{ name: "app", image: "app", resources: { claims: [{ name: "devices" }] } }],
    },
  };
}

/** Gives the node room for pods, and returns its uid. */
async function allowPods(name: string): Promise<string> {
  const capacity = { pods: "250", cpu: "64", memory: "64Gi" };
  const node = await transport.request({
    method: "PATCH",
    path: objectPath(nodes, { name }, "status"),
    contentType: "application/merge-patch+json",
    body: { status: { capacity, allocatable: capacity } },
  });
  return String(fieldAt(node, "metadata", "uid"));
}

async function create(...items: readonly object[]): Promise<void> {
  const input = JSON.stringify({ apiVersion: "v1", kind: "List", items });
  await cluster.kubectl(["create", "-f", "-"], { input });
}

/** Waits until the claims of the pods are gone, too. */
async function remove(pods: readonly PodOnNode[]): Promise<void> {
  const names = pods.map(({ metadata }) => metadata.name);
  if (names.length === 0) return;
  await cluster.kubectl(["delete", "pods", "--force", "--grace-period=0", ...names]);
  const owners = new Set(pods.map(({ metadata }) => metadata.uid));
  const areGone = async (): Promise<boolean> => {
    for await (const { items } of listPages(transport, { type: resourceClaims }))
      if (items.some(({ metadata }) => metadata.ownerReferences?.some(({ uid }) => owners.has(uid)))) return false;
    return true;
  };
  await eventually("the claims of the pods are gone", areGone, { withinMs: 300_000, everyMs: 500 });
}
