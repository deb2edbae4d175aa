// SPDX-License-Identifier: Apache-2.0
/**
 * Tests AF_XDP on NICs of virtual machines (virtio_net of a real kernel) that differ in queues and offloads. It checks
 * how the program of the device plugin is attached, that host-device finds the NIC by its PCI address, and that testpmd
 * receives packets.
 */
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { spawn } from "node:child_process";
import { startGuestTestpmd } from "@switchyard/demo/guest-pod";
import type { TestpmdContainer } from "@switchyard/demo/testpmd";
import { createNetworkNamespace, missingForNamespaces, type NetworkNamespace } from "@switchyard/netlink/testing";
import { eventually, runProgram } from "@switchyard/testing";
import { disposeOf } from "../src/dispose-of.ts";
import { bootPluginGuest, type PluginGuest } from "./guest-plugin.ts";

const cpus = 2; // of the guest

interface Nic {
  readonly about: string;
  readonly queuePairs: number;
  readonly properties?: readonly string[];
  /** How the kernel runs the program. */
  readonly mode: "native" | "generic";
  /** Kernels with which packets are not copied. */
  readonly zeroCopy?: string;
}

const spare = 2 * cpus + 2; // at least one more for each processor
const kinds: readonly Nic[] = [
  { about: "with a spare queue for each processor", queuePairs: spare, mode: "native" },
  { about: "without spare queues", queuePairs: cpus, mode: "native" },
  { about: "with one queue", queuePairs: 1, mode: "native" },
  {
    about: "whose offloads the driver cannot switch off",
    queuePairs: spare,
    properties: ["ctrl_guest_offloads=off"],
    mode: "generic",
  },
  {
    about: "behind an IOMMU of the hypervisor",
    queuePairs: spare,
    properties: ["iommu_platform=on", "disable-legacy=on"],
    mode: "native",
    zeroCopy: "backports",
  },
];

/** The NICs in the order of their PCI addresses. */
const nics = kinds.map((nic, index) => ({
  ...nic,
  tap: `swyvirtio${index}`,
  id: `0000:00:${(0x10 + index).toString(16)}.0`,
  name: `enp0s${0x10 + index}`,
  subnet: `10.99.${index}`,
}));

const pool = ({ id, name }: (typeof nics)[number]) => ({
  name: "virtio",
  hasSocket: true,
  hasPinnedMap: false,
  idleTimeoutMs: 0,
  uid: 1500,
  requiresUnprivilegedBpf: false,
  devices: [{ id, name, key: id, queues: 1 }],
});

const kernels = [{ kernel: "6.12" }, { kernel: "backports" }] as const;

(missingForNamespaces() === undefined ? describe : describe.skip).each(kernels)(
  "with kernel $kernel, a virtio NIC",
  (lab) => {
    let node: PluginGuest;
    let peers: NetworkNamespace;
    const packets = new AbortController();
    beforeAll(async () => {
      node = await bootPluginGuest({ kernel: lab.kernel, smp: cpus, virtioNics: nics });
      peers = await createNetworkNamespace();
      const [pid = ""] = /\d+/.exec(peers.path) ?? [];
      for (const { tap, subnet } of nics) {
        await runProgram("ip", ["link", "set", tap, "netns", pid]);
        const neighbour = `ip neigh replace ${subnet}.77 lladdr ff:ff:ff:ff:ff:ff dev ${tap}`;
        await peers.run("sh", "-ec", `ip link set ${tap} up; ip address add ${subnet}.1/24 dev ${tap}; ${neighbour}`);
      }
      const send = nics.map(({ subnet }) => `echo hello >/dev/udp/${subnet}.77/9`).join("; ");
      const enter = ["--target", pid, "--net", "bash", "-c", `while sleep 0.2; do ${send}; done`];
      spawn("nsenter", enter, { signal: packets.signal, stdio: "ignore" }).on("error", () => undefined);
    }, 900_000);
    afterAll(async () => {
      packets.abort();
      await disposeOf(node, peers);
    }, 60_000);

    const run = (command: string) => node.run(command);

    /** The plugin looks again, as the service does: for 250 ms it takes an answer of the kubelet for true. */
    async function programIsGone(name: string): Promise<void> {
      const isGone = async () => {
        await node.ask({ pools: [] });
        return !(await run(`ip -details link show ${name}`)).includes("prog/xdp");
      };
      await eventually(`the program of ${name} is gone`, isGone, { withinMs: 60_000 });
    }

    const allocate = (id: string) => node.ask({ allocate: { resource: "afxdp/virtio", ids: [id] } });

    it.each(nics)(
      "$about has its program in $mode mode, and testpmd receives packets",
      async (nic) => {
        const { id, name, mode } = nic;
        await run(`ethtool -L ${name} combined 1 || [ ${nic.queuePairs} = 1 ]`);
        expect(await node.ask({ pools: [pool(nic)] })).toMatchObject([{ healthy: 1, devices: [{ id }] }]);
        const { mounts } = (await allocate(id)) as Pick<TestpmdContainer, "mounts">;
        expect(JSON.parse(await node.cni("ADD", id))).toMatchObject({ interfaces: [{ name: "net1" }] });
        const devices = [{ resourceName: "afxdp/virtio", ids: [id] }];
        const pods = [{ name: "dpdk", namespace: "default", containers: [{ name: "app", devices }] }];
        expect(await node.ask({ pods })).toMatchObject([{ healthy: 1, problems: [] }]);
        const link = await run("ip -n pod -details link show net1");
        expect(link).toContain("name switchyard_xsk");
        expect(/ xdpgeneric\b/.test(link) ? "generic" : "native").toBe(mode);

        const driver = `iface=net1,use_cni=1,dp_path=/tmp/afxdp_dp/${name}/afxdp.sock`;
        const testpmd = await startGuestTestpmd(node.guest, { podName: "dpdk", mounts, driver });
        await testpmd.received();
        const sockets = await run("modprobe xdp_diag; ip netns exec pod ss --xdp --extended");
        expect(/zc:(\d)/.exec(sockets)?.[1]).toBe(nic.zeroCopy === lab.kernel ? "1" : "0");
        await testpmd[Symbol.asyncDispose]();
        expect(await node.cni("DEL", id)).toBe("");
        expect(await node.ask({ pods: [] })).toMatchObject([{ healthy: 1, problems: [] }]);
        await programIsGone(name);
      },
      900_000,
    );

    it("has its program in native mode at an MTU for which packets are in several buffers", async () => {
      const [nic] = nics;
      if (nic === undefined) throw new TypeError("no NIC");
      await run(`ip link set ${nic.name} mtu 9000`);
      expect(await node.ask({ pools: [pool(nic)] })).toMatchObject([{ healthy: 1, problems: [] }]);
      expect(await allocate(nic.id)).not.toHaveProperty("error");
      const link = await run(`ip -details link show ${nic.name}`);
      expect(link).toMatch(/mtu 9000 xdp .*name switchyard_xsk/s);
      await node.ask({ pods: [] });
      await programIsGone(nic.name);
    }, 600_000);
  },
);
