// SPDX-License-Identifier: Apache-2.0
/**
 * Tests a node whose port (igb) a policy gives to pods: the config daemon, afxdp-device-plugin, host-device and testpmd are real, and a
 * program plays the kubelet. igb of the newest kernel in Debian's backports gives packets to AF_XDP sockets without copying, igb of 6.12
 * copies them.
 */
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { callHostDevice, dpdkDisk, prepareGuestPod, startGuestTestpmd } from "@switchyard/demo/guest-pod";
import { startGuestAfxdpNode, type GuestAfxdpNode } from "@switchyard/demo/guest-afxdp-node";
import type { TestpmdContainer } from "@switchyard/demo/testpmd";
import { namespace, waitFor } from "@switchyard/test-cluster";
import { eventually, findWorkspaceRoot, runProgram } from "@switchyard/testing";
import { bundleForGuest, type GuestProcess } from "@switchyard/vm-lab";
import { disposeOf } from "../src/dispose-of.ts";
import { startWatchedNode, type WatchedNode } from "../src/nodes/watched-node.ts";

const [pf, name] = ["0000:01:00.1", "enp1s0f1"] as const;
const resource = "afxdp/port";
const network = { config: { cniVersion: "1.0.0", name: "fast", type: "host-device" }, deviceID: pf };
const withinMs = 240_000;
const resyncMs = 60_000; // of the plugin

describe.each([
  { kernel: "backports", zeroCopy: true },
  { kernel: "6.12", zeroCopy: false },
] as const)("igb with kernel $kernel", ({ kernel, zeroCopy }) => {
  let directory = "";
  let watched: WatchedNode;
  let node: GuestAfxdpNode;
  let plugin: GuestProcess;
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), "switchyard-zero-copy-"));
    watched = await startWatchedNode({ udev: true, kernel, disks: [await dpdkDisk(directory)] });
    await prepareGuestPod(watched.node.guest, watched.node.share);
    node = await startGuestAfxdpNode(watched.node, "vm");
    watched.node.startDaemon();
    plugin = node.startPlugin();
  }, 900_000);
  afterAll(async () => {
    await disposeOf(watched);
    await rm(directory, { recursive: true });
  }, 60_000);

  const kubectl = (...args: string[]) => watched.testCluster.kubectl([...args, "-n", namespace]);

  /** Waits until the kubelet knows so many devices. */
  async function announces(count: number, { healthy = count, withinMs = 120_000 } = {}): Promise<void> {
    const answer = await node.kubelet({ until: { resource, count, healthy, withinMs } });
    const found = answer as readonly { readonly isHealthy: boolean }[];
    expect(found.filter(({ isHealthy }) => isHealthy)).toHaveLength(healthy);
  }

  async function apply(kind: string, name: string, spec: object): Promise<void> {
    const apiVersion = "afxdpnetwork.hns.dev/v1alpha1";
    const object = { apiVersion, kind, metadata: { name, namespace }, spec };
    await watched.testCluster.kubectl(["apply", "-f", "-"], object);
  }

  it(`${zeroCopy ? "has" : "has no"} zero copy in its node state, and in the report of doctor`, async () => {
    await apply("AfxdpOperatorConfig", "default", {});
    const spec = { poolName: "port", nodeSelector: {}, nicSelector: { rootDevices: [pf] }, queues: 1, uid: 1500 };
    await apply("AfxdpNetworkNodePolicy", "port", spec);
    await waitFor(watched.testCluster, "afxdpnetworknodepolicy/port", "Ready");
    const path = `{.status.interfaces[?(@.pciAddress=="${pf}")].xdp}`;
    const xdp = JSON.parse(await kubectl("get", "afxdpnetworknodestate/vm", "-o", `jsonpath=${path}`)) as unknown;
    expect(xdp).toEqual({ native: true, zeroCopy });
    const main = join(findWorkspaceRoot(), "apps/cli/src/main.ts");
    const flags = ["--kubeconfig", watched.testCluster.cluster.kubeconfig, "-o", "html"];
    const { stdout } = await runProgram(process.execPath, [main, "doctor", ...flags]);
    expect(stdout).toContain(name);
    expect(stdout.includes("native, without copying")).toBe(zeroCopy);
  }, 600_000);

  it("is not offered with an XDP program of somebody else, which stays, and the policy says so", async () => {
    await announces(1);
    const foreign = join(watched.node.share, "foreign");
    await cp(await bundleForGuest("e2e/afxdp/attach-foreign-program.ts"), foreign, { recursive: true });
    expect(await watched.inGuest(`node /share/foreign/main.mjs ${name} 2>&1`)).toBe("");
    await announces(1, { healthy: 0 });
    const path = '{.status.conditions[?(@.type=="Ready")].message}';
    const message = () => kubectl("get", "afxdpnetworknodepolicy/port", "-o", `jsonpath=${path}`);
    const problem = `pool port: device ${name}: it has an XDP program that Switchyard did not attach: program`;
    await eventually("the policy says so", async () => (await message()).includes(problem), { withinMs });
    expect(await watched.inGuest(`ip -details link show ${name}`)).toContain("name xdp_dispatcher");
    await watched.inGuest(`ip link set ${name} xdp off`);
    await announces(1);
    await waitFor(watched.testCluster, "afxdpnetworknodepolicy/port", "Ready");
  }, 600_000);

  it(`gives packets to testpmd ${zeroCopy ? "without copying" : "in copy mode"}, also while the device plugin is dead`, async () => {
    const { guest } = watched.node;
    await announces(1);
    const allocated = await node.kubelet({ allocate: { resource, ids: [pf] } });
    const { mounts } = allocated as Pick<TestpmdContainer, "mounts">;
    await callHostDevice(guest, "ADD", network);
    const devices = [{ resourceName: resource, ids: [pf] }];
    await node.kubelet({ pods: [{ name: "dpdk", namespace: "default", containers: [{ name: "app", devices }] }] });
    const neighbour = "ip neigh replace 192.0.2.77 lladdr ff:ff:ff:ff:ff:ff dev enp1s0f0";
    await watched.inGuest(`ip link set enp1s0f0 up; ip address add 192.0.2.1/24 dev enp1s0f0; ${neighbour}`);
    const sender = guest.spawn("while sleep 0.2; do bash -c 'echo hello >/dev/udp/192.0.2.77/9'; done");
    const container = {
      podName: "dpdk",
      mounts,
      driver: `iface=net1,use_cni=1,dp_path=/tmp/afxdp_dp/${name}/afxdp.sock`,
    };
    const first = await startGuestTestpmd(guest, container);
    // The flag of the kernel's UMEM (XDP_DU_F_ZEROCOPY), not what the driver promises.
    const sockets = await watched.inGuest("modprobe xdp_diag; ip netns exec pod ss --xdp --extended");
    expect(sockets).toMatch(new RegExp(`umem\\(.*zc:${zeroCopy ? 1 : 0}`, "s"));

    plugin.kill("SIGKILL");
    await plugin.exitCode;
    await announces(0);
    await first.received();
    await first.received();
    plugin = node.startPlugin();
    await announces(1);
    await first[Symbol.asyncDispose]();
    const second = await startGuestTestpmd(guest, container); // a restarted container, with a map from the new process
    await second[Symbol.asyncDispose]();
    sender.kill("SIGKILL");
    await callHostDevice(guest, "DEL", network);
    await node.kubelet({ pods: [] });
    expect(await watched.inGuest(`ip -d link show ${name}`)).toContain("prog/xdp");
  }, 900_000);

  it("is unhealthy with the reason as soon as the NIC is unplugged, and healthy when it is back", async () => {
    await watched.inGuest(`echo 1 > /sys/bus/pci/devices/${pf}/remove`);
    await announces(1, { healthy: 0, withinMs: resyncMs / 2 }); // by an event of the kernel
    const path = "jsonpath={.status.pools}";
    const reported = async () => await kubectl("get", "afxdpnetworknodestate/vm", "-o", path);
    await eventually("the reason", async () => (await reported()).includes("does not exist on the host"), { withinMs });
    expect(JSON.parse(await reported())).toEqual([
      {
        name: "port",
        announced: 1,
        allocatable: 0,
        error: `device ${name}: the network interface does not exist on the host`,
      },
    ]);
    await watched.inGuest("echo 1 > /sys/bus/pci/rescan; udevadm settle");
    await announces(1);
  }, 600_000);

  it("has no program of Switchyard after the policy is deleted", async () => {
    await kubectl("delete", "afxdpnetworknodepolicies", "--all");
    await announces(0);
    const isReleased = async () => !(await watched.inGuest(`ip -d link show ${name}`)).includes("prog/xdp");
    await eventually("the program is detached", isReleased, { withinMs });
    // The map is removed after that, and the socket with the pool.
    const left = () => watched.inGuest("find /sys/fs/bpf /run/switchyard/afxdp -type f ! -name '*.lock'");
    await eventually("no map and no socket is left", async () => (await left()) === "", { withinMs });
  }, 600_000);
});
