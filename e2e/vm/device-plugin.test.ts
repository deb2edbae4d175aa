// SPDX-License-Identifier: Apache-2.0
/**
 * Tests device-plugin-config with the real device plugin: the plugin accepts every configuration that it writes. On a
 * real kernel with real VFs (igb in the VM lab), the plugin announces the VFs that the policies request, also after the
 * policies change.
 */
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import type { SriovNetworkNodePolicy, SriovNetworkNodeState, VfGroup } from "@switchyard/api";
import { applyPolicy, type NodeLog, policySpec, type TestCluster } from "@switchyard/test-cluster";
import { formatDevicePluginConfig, nodeDevicePluginConfig, policyDevicePluginConfig } from "@switchyard/render";
import { eventually } from "@switchyard/testing";
import fc from "fast-check";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { disposeOf } from "../src/dispose-of.ts";
import { bootPluginNode, type PluginNode } from "../device-plugin/boot-plugin-node.ts";
import { buildPlugin, runPlugin } from "../device-plugin/run-plugin.ts";
import { pfStatus } from "../device-plugin/fake-pf.ts";
import { startWatchedCluster, type WatchedCluster } from "../src/nodes/fake-worker.ts";

const flags = '"IsRdma":false,"NeedVhostNet":false';
const within = { withinMs: 180_000 };

describe("the real device plugin", () => {
  let bin: string;
  let directory: string;
  beforeAll(async () => {
    bin = await buildPlugin();
    directory = await mkdtemp(join(tmpdir(), "switchyard-sriovdp-"));
  }, 900_000);
  afterAll(() => rm(directory, { recursive: true, force: true }));

  it("accepts the configuration of every node state", async () => {
    for (const groups of fc.sample(groupsOfPfs, { numRuns: 60, seed: 1 })) {
      const { config } = nodeDevicePluginConfig(stateOf(groups));
      if (config.resourceList?.length === 0) continue; // device-plugin-config writes "none" instead, which a test below runs
      const text = formatDevicePluginConfig(config);
      expect({ text, ...(await runPlugin(bin, directory, text)) }).toMatchObject({ isTaken: true });
    }
  }, 300_000);

  it("accepts the configuration in upstream's form", async () => {
    for (const policies of fc.sample(fc.array(policy, { minLength: 1, maxLength: 3 }), { numRuns: 30, seed: 1 })) {
      const interfaces = [pfStatus({ numVfs: 4 })];
      const text = formatDevicePluginConfig(policyDevicePluginConfig({ policies, interfaces, nics: [] }).config);
      expect({ text, ...(await runPlugin(bin, directory, text)) }).toMatchObject({ isTaken: true });
    }
  }, 300_000);

  it("keeps running if no device matches, and exits if the configuration has no resources", async () => {
    const none = `{"resourceList":[{"resourceName":"none","selectors":{"pciAddresses":["none"],${flags}}}]}`;
    expect((await runPlugin(bin, directory, none)).isTaken).toBe(true);
    for (const nothing of ['{"resourceList":[]}', '{"resourceList":null}']) {
      const { isTaken, log } = await runPlugin(bin, directory, nothing);
      expect([isTaken, log]).toEqual([false, expect.stringContaining("no resource configuration; exiting")]);
    }
  });

  it("exits if one resource name has a character that it does not allow, such as '-', which later releases allow", async () => {
    for (const name of ["a-b", "a/b", "a.b", ""]) {
      const selectors = `"selectors":{"pciAddresses":["0000:01:10.0"],${flags}}`;
      const text = `{"resourceList":[{"resourceName":"fast",${selectors}},{"resourceName":"${name}",${selectors}}]}`;
      const { isTaken, log } = await runPlugin(bin, directory, text);
      expect([name, isTaken, log]).toEqual([name, false, expect.stringContaining("contains invalid characters")]);
    }
  });
});

describe("the device plugin on igb", () => {
  let watched: WatchedCluster;
  let testCluster: TestCluster;
  let news: NodeLog;
  let node: PluginNode;

  beforeAll(async () => {
    watched = await startWatchedCluster();
    ({ testCluster, news } = watched);
    node = await bootPluginNode(testCluster, "vm");
  }, 900_000);
  afterAll(async () => {
    await disposeOf(node, watched);
  }, 60_000);

  /** Returns the addresses of VFs of the first port, as the kernel reports them. */
  async function addressesOf(first: number, last: number): Promise<readonly string[]> {
    const links = `for n in $(seq ${first} ${last}); do basename $(readlink /sys/bus/pci/devices/0000:01:00.0/virtfn$n); done`;
    const { stdout } = await node.guest.exec(links);
    return stdout.trim().split("\n").sort();
  }

  async function announces(resource: string, first: number, last: number) {
    const what = `${resource} has VFs ${first}-${last}`;
    return eventually(
      what,
      async () => {
        const found = node.announced(resource);
        if (found === undefined) return undefined;
        return JSON.stringify(found.devices) === JSON.stringify(await addressesOf(first, last)) ? found : undefined;
      },
      { ...within, everyMs: 500 },
    );
  }

  async function configuredIs(status: string): Promise<void> {
    const holds = (): boolean => {
      const state = news.states.get("vm");
      const found = state?.status?.conditions?.find(({ type }) => type === "DevicePluginConfigured");
      return found?.status === status && found.observedGeneration === state?.metadata.generation;
    };
    await eventually(`DevicePluginConfigured=${status}`, holds, within);
  }

  async function applyPolicies(numVfs: number, fast: string, dpdk: string, deviceType: "netdevice" | "vfio-pci") {
    const pf = "enp1s0f0";
    await applyPolicy(
      testCluster,
      "fast",
      policySpec({ pfNames: [`${pf}#${fast}`] }, { numVfs, resourceName: "fast" }),
    );
    await applyPolicy(
      testCluster,
      "dpdk",
      policySpec({ pfNames: [`${pf}#${dpdk}`] }, { numVfs, deviceType, resourceName: "dpdk" }),
    );
  }

  it("announces the VFs that the policies request, and other VFs after the policies change", async () => {
    node.startDaemon();
    await applyPolicies(3, "0-1", "2-2", "vfio-pci");
    const init = node.startConfigurator(["--wait"]);
    init.stderr.resume();
    expect(await init.exitCode).toBe(0);
    node.startPlugin();
    expect((await announces("fast", 0, 1)).files).toEqual([]);
    expect((await announces("dpdk", 2, 2)).files).toEqual([
      expect.stringMatching(/^\/dev\/vfio\/\d+$/),
      "/dev/vfio/vfio",
    ]);

    const follower = node.startConfigurator([]);
    follower.stderr.resume();
    await configuredIs("True");
    expect(node.announced("fast")?.count).toBe(1); // the init container had written the configuration before the plugin started

    await applyPolicies(5, "0-2", "3-4", "vfio-pci");
    await announces("fast", 0, 2);
    await announces("dpdk", 3, 4);
    await configuredIs("True");

    // The same VFs with another driver: the configuration does not change, but what pods get does.
    await applyPolicies(5, "0-2", "3-4", "netdevice");
    await eventually(
      "the plugin announces no VFIO files",
      async () => (await announces("dpdk", 3, 4)).files.length === 0,
      within,
    );

    follower.kill("SIGTERM");
    expect(await follower.exitCode).toBe(0);
  }, 900_000);
});

// Everything that policies can request. The plugin of November 2022 does not allow "-" in names.
const resourceName = fc.oneof(fc.constantFrom("a", "b", "rdma_a"), fc.stringMatching(/^[a-zA-Z0-9_]{1,63}$/));
const ways = {
  isRdma: fc.boolean(),
  needVhostNet: fc.boolean(),
  excludeTopology: fc.boolean(),
  vdpaType: fc.constantFrom("virtio" as const, "vhost" as const),
};
const vfRange = fc.tuple(fc.nat(3), fc.nat(3)).map((ends) => ends.toSorted((a, b) => a - b).join("-"));
const group: fc.Arbitrary<VfGroup> = fc.record(
  { resourceName, vfRange, ...ways },
  { requiredKeys: ["resourceName", "vfRange"] },
);
const groupsOfPfs = fc.array(fc.array(group, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 3 });

const word = fc.oneof(fc.constantFrom("ens1f0", "ens1f0#0-3", '"', "<&>"), fc.string({ unit: "grapheme" }));
const policy: fc.Arbitrary<SriovNetworkNodePolicy> = fc
  .record(
    {
      resourceName,
      ...ways,
      nicSelector: fc.record(
        { vendor: fc.constantFrom("8086", "15b3"), pfNames: fc.array(word), rootDevices: fc.array(word) },
        { requiredKeys: [] },
      ),
      linkType: fc.constantFrom("eth" as const, "ib" as const),
    },
    { requiredKeys: ["resourceName", "nicSelector"] },
  )
  .map((spec) => ({
    apiVersion: "sriovnetwork.openshift.io/v1",
    kind: "SriovNetworkNodePolicy",
    metadata: { name: "p" },
    spec: { nodeSelector: {}, numVfs: 4, ...spec },
  }));

function stateOf(groups: readonly (readonly VfGroup[])[]): SriovNetworkNodeState {
  const pfs = groups.map((_, index) => pfStatus({ numVfs: 4, slot: index + 1 }));
  return {
    apiVersion: "sriovnetwork.openshift.io/v1",
    kind: "SriovNetworkNodeState",
    metadata: { name: "worker-1" },
    spec: {
      interfaces: pfs.map(({ pciAddress }, index) => ({ pciAddress, numVfs: 4, vfGroups: groups[index] ?? [] })),
    },
    status: { interfaces: pfs },
  };
}
