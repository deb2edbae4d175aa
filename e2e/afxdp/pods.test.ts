// SPDX-License-Identifier: Apache-2.0
/**
 * Tests what pods get from afxdp-device-plugin with the programs that users have. The stock CNI plugin host-device
 * attaches the device by the id that the plugin announces, and DPDK's testpmd receives packets from it, without root.
 */
import { afterAll, afterEach, beforeAll, describe, expect, it } from "@jest/globals";
import { createNetworkNamespace, missingForNamespaces, type NetworkNamespace } from "@switchyard/netlink/testing";
import { debianDpdk } from "@switchyard/demo/debian-dpdk";
import { poolDevicesOf, renderNetwork } from "@switchyard/render";
import { disposeOf } from "../src/dispose-of.ts";
import { createPluginNode, pciAddress, type PluginNode } from "./plugin-node.ts";
import { startTestpmd, type Testpmd, type TestpmdContainer } from "@switchyard/demo/testpmd";

const limitMs = 180_000;
const resource = "afxdp/intel";
const capabilities = ["net_raw", "ipc_lock"];
const byId = { runtimeConfig: { deviceID: pciAddress } };
const podName = "dpdk-7c9d";
const veth = { name: "v1", mode: "primary", poolName: "veths" } as const;

interface Allocation {
  readonly environment: Readonly<Record<string, string>>;
  readonly mounts: TestpmdContainer["mounts"];
}

(missingForNamespaces() === undefined ? describe : describe.skip)("pods with AF_XDP devices", () => {
  let node: PluginNode;
  let pod: NetworkNamespace;
  let tree = "";
  const packets = new AbortController();
  beforeAll(async () => {
    tree = await debianDpdk();
    node = await createPluginNode();
    pod = await createNetworkNamespace();
    node.sendPackets(packets.signal);
  }, 900_000);
  afterAll(async () => {
    packets.abort();
    await disposeOf(pod, node);
  });

  const pool = (settings: object) => ({
    name: "intel",
    hasSocket: true,
    hasPinnedMap: false,
    idleTimeoutMs: 0,
    uid: 1500,
    requiresUnprivilegedBpf: false,
    ...settings,
    devices: [{ id: pciAddress, name: "v0", key: pciAddress, queues: 1 }],
  });
  const heldBy = (name: string) => [
    {
      name,
      namespace: "default",
      containers: [{ name: "app", devices: [{ resourceName: resource, ids: [pciAddress] }] }],
    },
  ];

  /** Gives the pod its device as a node does: allocation, then CNI. */
  async function attach(settings: object): Promise<Allocation> {
    expect(await node.ask({ pools: [pool(settings)] })).toMatchObject([{ healthy: 1, devices: [{ id: pciAddress }] }]);
    const allocation = (await node.ask({ allocate: { resource, ids: [pciAddress] } })) as Allocation;
    const { stdout } = await node.cni("ADD", pod, byId);
    expect(JSON.parse(stdout)).toMatchObject({ interfaces: [{ name: "net1" }] });
    // The device is in the pod, where the plugin does not see it, and stays healthy.
    expect(await node.ask({ pods: heldBy(podName) })).toMatchObject([{ announced: 1, healthy: 1, problems: [] }]);
    return allocation;
  }

  function start(allocation: Allocation, driver: string, own: Partial<TestpmdContainer> = {}): Testpmd {
    const namespaces = { mount: node.host.path.replace(/net$/, "mnt"), net: pod.path };
    return startTestpmd({ namespaces, tree, podName, mounts: allocation.mounts, driver, capabilities, ...own });
  }

  describe("with a PCI address", () => {
    afterEach(async () => {
      expect((await node.cni("DEL", pod, byId)).stdout).toBe("");
      expect(await node.host.run("ip", "-o", "link", "show", "v0")).toContain("v0");
      expect(await node.ask({ pods: [] })).toMatchObject([{ healthy: 1, problems: [] }]);
    });

    it(
      "receive packets with the map from the socket, again after the container restarts",
      async () => {
        const allocation = await attach({});
        expect(allocation.environment).toEqual({ AFXDP_DEVICES_INTEL: "v0" });
        expect((await pod.run("cat", "/sys/class/net/net1/ifalias")).trim()).toBe("v0"); // by which a program finds its socket
        const driver = "iface=net1,use_cni=1,dp_path=/tmp/afxdp_dp/v0/afxdp.sock";
        for (let container = 0; container < 2; container++) {
          await using testpmd = start(allocation, driver);
          await testpmd.received();
        }
        const refused = start(allocation, driver, { podName: "other" });
        expect(await refused.ended).toContain("Unexpected response [/host_nak]");
        const incapable = start(allocation, driver, { capabilities: [] });
        expect(await incapable.ended).toContain("Failed to create umem [1]: [Operation not permitted]");
      },
      limitMs,
    );

    it(
      "receive packets with the pinned map",
      async () => {
        const allocation = await attach({ hasPinnedMap: true });
        const driver = "iface=net1,use_pinned_map=1,dp_path=/tmp/afxdp_dp/v0/xsks_map";
        for (let container = 0; container < 2; container++) {
          await using testpmd = start(allocation, driver);
          await testpmd.received();
        }
      },
      limitMs,
    );
  });

  it(
    "get a device that is not on the PCI bus by the name in the configuration of their network, because host-device refuses it as an id",
    async () => {
      const refused = await node.cni("ADD", pod, { runtimeConfig: { deviceID: "v1" } });
      expect(refused.stdout).toContain("runtime config DeviceID v1 not found or unsupported");
      const rendered = renderNetwork(
        {
          apiVersion: "afxdpnetwork.hns.dev/v1alpha1",
          kind: "AfxdpNetwork",
          metadata: { name: "fast", namespace: "default" },
          spec: { poolName: "veths" },
        },
        { resourcePrefix: "", afxdpDevices: poolDevicesOf("veths", [{ spec: { interfaces: [veth] } }]) },
      );
      if (!rendered.ok) throw new Error(JSON.stringify(rendered.error));
      const config = JSON.parse(rendered.value.spec.config) as object;
      const { stdout } = await node.cni("ADD", pod, config);
      expect(JSON.parse(stdout)).toMatchObject({ interfaces: [{ name: "net1" }] });
      expect((await pod.run("cat", "/sys/class/net/net1/ifalias")).trim()).toBe("v1");
      expect((await node.cni("DEL", pod, config)).stdout).toBe("");
      expect(await node.host.run("ip", "-o", "link", "show", "v1")).toContain("v1");
    },
    limitMs,
  );
});
