// SPDX-License-Identifier: Apache-2.0
/**
 * Tests afxdp-device-plugin on NICs of a real kernel: host-device finds a PF and a subfunction by the ids that the plugin announces,
 * and testpmd receives what the other port of the NIC sends. The subfunction is one of the VM lab's test driver.
 */
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { startGuestTestpmd } from "@switchyard/demo/guest-pod";
import type { TestpmdContainer } from "@switchyard/demo/testpmd";
import { disposeOf } from "../src/dispose-of.ts";
import { bootPluginGuest, type PluginGuest } from "./guest-plugin.ts";

const pf = { id: "0000:01:00.1", name: "enp1s0f1np1" };

describe("AF_XDP devices on NICs", () => {
  let node: PluginGuest;
  beforeAll(async () => {
    node = await bootPluginGuest({ driver: "igbsw" });
  }, 900_000);
  afterAll(async () => {
    await disposeOf(node);
  }, 60_000);

  const run = (command: string) => node.run(command);

  const pool = (name: string, device: { readonly id: string; readonly name: string }) => ({
    name,
    hasSocket: true,
    hasPinnedMap: false,
    idleTimeoutMs: 0,
    uid: 1500,
    requiresUnprivilegedBpf: false,
    devices: [{ ...device, key: device.id, queues: 8 }],
  });
  const pods = (resourceName: string, id: string) => [
    { name: "dpdk", namespace: "default", containers: [{ name: "app", devices: [{ resourceName, ids: [id] }] }] },
  ];
  const programOf = (link: string): Promise<string> => run(`${link} | grep -o 'prog/xdp id [0-9]* name [^ ]*'`);

  it("give a pod a PF, whose packets testpmd receives", async () => {
    // Packets of the other port may arrive at any queue of a port; testpmd reads one.
    await run(
      `ethtool -L ${pf.name} combined 1; ip link set enp1s0f0np0 up; ip address add 192.0.2.1/24 dev enp1s0f0np0`,
    );
    await run("ip neigh replace 192.0.2.77 lladdr ff:ff:ff:ff:ff:ff dev enp1s0f0np0");
    expect(await node.ask({ pools: [pool("pf", pf)] })).toMatchObject([{ healthy: 1, devices: [{ id: pf.id }] }]);
    const allocated = await node.ask({ allocate: { resource: "afxdp/pf", ids: [pf.id] } });
    const { mounts } = allocated as Pick<TestpmdContainer, "mounts">;
    expect(JSON.parse(await node.cni("ADD", pf.id))).toMatchObject({ interfaces: [{ name: "net1" }] });
    expect(await node.ask({ pods: pods("afxdp/pf", pf.id) })).toMatchObject([{ healthy: 1, problems: [] }]);
    expect(await run("ip netns exec pod cat /sys/class/net/net1/ifalias")).toBe(pf.name);
    expect(await run("ip -n pod -d link show net1")).toContain("prog/xdp id");

    const sender = node.guest.spawn("while sleep 0.2; do bash -c 'echo hello >/dev/udp/192.0.2.77/9'; done");
    const driver = `iface=net1,use_cni=1,dp_path=/tmp/afxdp_dp/${pf.name}/afxdp.sock`;
    for (let container = 0; container < 2; container++) {
      await using testpmd = await startGuestTestpmd(node.guest, { podName: "dpdk", mounts, driver });
      expect(await testpmd.received()).toBeGreaterThan(1);
    }
    sender.kill("SIGKILL");
    expect(await node.cni("DEL", pf.id)).toBe("");
    expect(await node.ask({ pods: [] })).toMatchObject([{ healthy: 1, problems: [] }]);
    expect(await run(`ls /sys/bus/pci/devices/${pf.id}/net`)).toBe(pf.name);
    await node.ask({ pools: [] });
    expect(await run(`ip -d link show ${pf.name}`)).not.toContain("prog/xdp");
  }, 900_000);

  it("give a pod a subfunction by the name of its auxiliary device", async () => {
    await run("devlink dev eswitch set pci/0000:01:00.0 mode switchdev");
    const added = await run("devlink -j port add pci/0000:01:00.0 flavour pcisf pfnum 0 sfnum 88");
    const [port = ""] = /pci\/0000:01:00\.0\/\d+/.exec(added) ?? [];
    await run(`devlink port function set ${port} hw_addr 00:00:00:00:88:88 state active; udevadm settle`);
    const id = await run("basename /sys/bus/auxiliary/devices/mlx5_core.sf.*");
    const name = await run(`ls /sys/bus/auxiliary/devices/${id}/net`);
    expect(id).toMatch(/^mlx5_core\.sf\.\d+$/);
    expect(await node.ask({ pools: [pool("sfs", { id, name })] })).toMatchObject([{ healthy: 1, devices: [{ id }] }]);
    const allocated = await node.ask({ allocate: { resource: "afxdp/sfs", ids: [id] } });
    expect(allocated).toMatchObject({ environment: { AFXDP_DEVICES_SFS: name } });
    expect(JSON.parse(await node.cni("ADD", id))).toMatchObject({ interfaces: [{ name: "net1" }] });
    expect(await node.ask({ pods: pods("afxdp/sfs", id) })).toMatchObject([{ healthy: 1, problems: [] }]);
    expect(await programOf("ip -n pod -d link show net1")).toContain("switchyard_xsk");
    expect(await node.cni("DEL", id)).toBe("");
    expect(await run(`ls /sys/bus/auxiliary/devices/${id}/net`)).toBe(name);
    expect(await node.ask({ pods: [] })).toMatchObject([{ healthy: 1, problems: [] }]);
  }, 900_000);
});
