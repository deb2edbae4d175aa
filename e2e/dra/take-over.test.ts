// SPDX-License-Identifier: Apache-2.0
/**
 * Switchyard takes over a node of a cluster whose operator gives VFs to pods by dra-driver-sriov (dra.md 2), and later gives the
 * node to the device plugin. API server, operator, config daemon, device-plugin-config and driver are real; the kernel, the
 * kubelet and the pods of the other driver are not.
 */
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import {
  resourceClaims,
  resourceSlices,
  sriovNetworkNodeStates,
  type PciAddress,
  type ResourceSlice,
  type SriovNetworkNodeState,
} from "@switchyard/api";
import { serveNode } from "@switchyard/dra-driver/serve-node";
import { createFakeKernel, igb, pci, serveFakeKernel } from "@switchyard/host/testing";
import { collectionPath, objectPath } from "@switchyard/kube";
import { startFakeKubelet } from "@switchyard/kubelet/testing";
import { addressOfDevice, deviceNameOf } from "@switchyard/render";
import { Registry } from "@switchyard/service";
import { silentLogger } from "@switchyard/service/testing";
import {
  applyPolicy,
  createNode,
  createOperatorConfig,
  namespace,
  policySpec,
  silentNarrator,
  startTestCluster,
  type TestCluster,
} from "@switchyard/test-cluster";
import { eventually } from "@switchyard/testing";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { allocatedClaims, foreignClass, foreignSlice, podsWithClaims, writeClaims } from "./foreign-driver.ts";

const node = "worker-1";
const pf = pci("0000:01:00.0");
const vfCount = 6;
const claimNames = ["first", "second", "third"];
const within = { withinMs: 120_000 };

const stack = new AsyncDisposableStack();
const kernel = createFakeKernel({ nics: [igb(pf)] });
let testCluster: TestCluster;
let vfs: readonly PciAddress[];
let configFile: string;
let root: string;

beforeAll(async () => {
  testCluster = stack.use(await startTestCluster(silentNarrator));
  await createNode(testCluster, node);
  const host = kernel.host();
  await host.modules.load("igbvf");
  await host.sriov.setNumVfs(pf, vfCount);
  vfs = ((await host.sriov.readPf(pf))?.sriov?.vfs ?? []).map(({ pciAddress }) => pciAddress);
  await leaveOtherOperator();
  // Short: the path of the registration socket below it may have 107 characters.
  root = await mkdtemp(join(tmpdir(), "dra-"));
  stack.defer(() => rm(root, { recursive: true, force: true }));
  configFile = join(root, "plugin.json");
  const bootDirectory = join(root, "proc/sys/kernel/random");
  await mkdir(bootDirectory, { recursive: true });
  await writeFile(join(bootDirectory, "boot_id"), `${await host.boot.readBootId()}\n`);
});
afterAll(() => stack.disposeAsync());

/** What the chart of the other operator and its driver have written. */
async function leaveOtherOperator(): Promise<void> {
  const nodeUid = await testCluster.cluster.kubectl(["get", "node", node, "-o", "jsonpath={.metadata.uid}"]);
  const items = [
    foreignClass("fast", "openshift.io/fast"),
    foreignSlice({ node, nodeUid, pf, vfs, resource: "openshift.io/fast" }),
  ];
  await create(...items);
  const claimed = claimNames.map((name, nth) => ({ name, device: deviceNameOf(vfs[nth] ?? "") ?? "" }));
  await writeClaims(testCluster.transport, { node, claimed });
}

async function create(...items: readonly object[]): Promise<void> {
  const input = JSON.stringify({ apiVersion: "v1", kind: "List", items });
  await testCluster.cluster.kubectl(["create", "-f", "-"], { input });
}

/** VFs by who offers them, at one moment. */
interface Moment {
  readonly plugin: ReadonlySet<string>;
  readonly slices: ReadonlySet<string>;
  /** In slices and offered by the plugin, before and after the slices were read. */
  readonly both: readonly string[];
  /** Claims without the device that they had. */
  readonly lost: readonly string[];
}

async function sample(): Promise<Moment> {
  const before = await offeredByPlugin();
  const path = collectionPath(resourceSlices);
  const listed = (await testCluster.transport.request({ method: "GET", path })) as {
    readonly items: readonly ResourceSlice[];
  };
  const plugin = await offeredByPlugin();
  const devices = listed.items.flatMap(({ spec }) => spec.devices);
  const slices = new Set(devices.flatMap(({ name }) => addressOfDevice(name) ?? []));
  const claims = await allocatedClaims(testCluster.transport);
  const lost = claimNames.filter((name, nth) => claims.get(name) !== deviceNameOf(vfs[nth] ?? ""));
  return { plugin, slices, both: [...slices].filter((vf) => before.has(vf) && plugin.has(vf)), lost };
}

/** The plugin offers at most what its configuration says. A resource without VFs has the selector "none". */
async function offeredByPlugin(): Promise<ReadonlySet<string>> {
  const text = await readFile(configFile, "utf8").catch(() => '{"resourceList":[]}');
  const { resourceList } = JSON.parse(text) as {
    readonly resourceList: readonly { readonly selectors: { readonly pciAddresses?: readonly string[] } }[];
  };
  const selected = resourceList.flatMap(({ selectors }) => selectors.pciAddresses ?? []);
  return new Set(selected.filter((address) => address !== "none"));
}

const violations: string[] = [];

/** Takes samples until the condition holds, and at least `count`. */
async function sampleUntil(what: string, count: number, holds: (now: Moment) => Promise<boolean> | boolean) {
  const samples: Moment[] = [];
  try {
    await eventually(
      what,
      async () => {
        const now = await sample();
        samples.push(now);
        if (now.both.length + now.lost.length > 0) {
          violations.push(`${what}: VFs in both ${now.both.join()}; claims without their VF ${now.lost.join()}`);
        }
        return (await holds(now)) && samples.length >= count;
      },
      within,
    );
  } catch (cause) {
    const { spec, status } = await readState();
    const last = samples.at(-1);
    const seen = { samples: samples.length, plugin: [...(last?.plugin ?? [])], slices: [...(last?.slices ?? [])] };
    const { offeredBy, publishedVfs, syncStatus, interfaces = [] } = status ?? {};
    const node = {
      allocation: spec?.allocation,
      offeredBy,
      publishedVfs,
      syncStatus,
      vfs: interfaces.map((nic) => nic.Vfs),
    };
    throw new Error(`${what}: after ${JSON.stringify(seen)}, the node is ${JSON.stringify(node)}`, { cause });
  }
}

async function readState(): Promise<SriovNetworkNodeState> {
  const path = objectPath(sriovNetworkNodeStates, { name: node, namespace });
  return (await testCluster.transport.request({ method: "GET", path })) as SriovNetworkNodeState;
}

function startNodePrograms(): void {
  const onNode = ["--node-name", node, "--host-root", root];
  const socket = join(testCluster.directory, `${node}.sock`);
  testCluster.start(node, "apps/config-daemon/src/testing/fake-node.ts", [...onNode, "--kernel-socket", socket]);
  testCluster.start(`${node}-device-plugin-config`, "apps/device-plugin-config/src/main.ts", [
    ...onNode,
    ...["--config-file", configFile, "--kubelet-directory", join(root, "var/lib/kubelet")],
    ...["--block-until-configured=false", "--plugin-process", "no-plugin"],
  ]);
}

/** Runs until the test ends. */
function startDriver(kubeletDirectory: string): void {
  const end = new AbortController();
  const serving = serveNode({
    ...{ transport: testCluster.transport, namespace, nodeName: node, resourcePrefix: "openshift.io" },
    host: kernel.host(),
    kubelet: { directory: kubeletDirectory, onHost: kubeletDirectory },
    ...{ maxCacheAge: 60_000, log: silentLogger, metrics: new Registry(), setNotReady: () => undefined },
    signal: end.signal,
  });
  stack.defer(async () => {
    end.abort();
    await serving;
  });
}

const withoutClaims = () => vfs.slice(claimNames.length);

describe("a node of an operator with dra-driver-sriov", () => {
  it("is taken over: no VF is offered twice at any of 200 moments, and no claim is deallocated", async () => {
    const kubeletDirectory = join(root, "var/lib/kubelet");
    const kubelet = stack.use(await startFakeKubelet(kubeletDirectory));
    const claimed = claimNames.map((name, nth) => ({ name, device: deviceNameOf(vfs[nth] ?? "") ?? "" }));
    kubelet.pods = podsWithClaims({ node, claimed });
    stack.use(await serveFakeKernel(kernel, join(testCluster.directory, `${node}.sock`)));

    const before = await sample();
    expect([before.plugin.size, before.slices.size, before.lost]).toEqual([0, vfCount, []]);
    await applyPolicy(
      testCluster,
      "fast",
      policySpec({ rootDevices: [pf] }, { resourceName: "fast", numVfs: vfCount }),
    );
    await createOperatorConfig(testCluster, { featureGates: { dynamicResourceAllocation: true } });
    startNodePrograms();
    await sampleUntil("the node is configured", 50, async () => (await readState()).status?.syncStatus === "Succeeded");
    startDriver(kubeletDirectory); // as the DaemonSet replaces the pod of the other driver
    await sampleUntil("Switchyard publishes all VFs", 200, async ({ slices, plugin }) => {
      const { offeredBy, publishedVfs } = (await readState()).status ?? {};
      return offeredBy === "dra" && publishedVfs === vfCount && slices.size === vfCount && plugin.size === 0;
    });
    expect(violations).toEqual([]);
  });

  it("goes to the device plugin: it offers the VFs without claims, and the others stay in the slices", async () => {
    const gates = JSON.stringify({ spec: { featureGates: { dynamicResourceAllocation: false } } });
    const config = ["patch", "sriovoperatorconfig", "default", "-n", namespace, "--type=merge", "-p", gates];
    await testCluster.cluster.kubectl(config);
    await sampleUntil("the plugin offers the others", 20, ({ plugin, slices }) => {
      return withoutClaims().every((vf) => plugin.has(vf) && !slices.has(vf)) && slices.size === claimNames.length;
    });
    expect(violations).toEqual([]);
    for (const name of claimNames) {
      await testCluster.transport.request({
        method: "DELETE",
        path: objectPath(resourceClaims, { name, namespace: "default" }),
      });
    }
    expect((await sample()).lost).toEqual(claimNames); // the check can fail
  });
});
