// SPDX-License-Identifier: Apache-2.0
/**
 * runVmAfxdpDemo shows AF_XDP on a real kernel. There are a node in QEMU whose ports (igbsw) have subfunctions like
 * those of a ConnectX, the config daemon, afxdp-device-plugin, the CNI plugin host-device, and DPDK's testpmd as the
 * container of a pod. There is no SriovOperatorConfig. A program plays the kubelet.
 */
import { namespace, waitFor, type Narrator, type TestCluster } from "@switchyard/test-cluster";
import { eventually } from "@switchyard/testing";
import type { Guest } from "@switchyard/vm-lab";
import { bootGuestNode } from "@switchyard/vm-lab/guest-node";
import { startGuestAfxdpNode } from "./dpdk/guest-afxdp-node.ts";
import { callHostDevice, dpdkDisk, prepareGuestPod, startGuestTestpmd } from "./dpdk/guest-pod.ts";
import type { TestpmdContainer } from "./dpdk/testpmd.ts";
import { runInGuest } from "./vm-demo.ts";

const node = "vm-worker";
const apiVersion = "afxdpnetwork.hns.dev/v1alpha1";
/** The first port gets subfunctions. The second is given to a pod as a whole: the lab's subfunctions carry no packets. */
const [split, whole] = ["0000:01:00.0", "0000:01:00.1"] as const;
const timeoutMs = 120_000;

interface Demo {
  readonly testCluster: TestCluster;
  readonly narrator: Narrator;
  readonly guest: Guest;
  readonly shell: (command: string) => Promise<void>;
  /** Asks the program that plays the kubelet. */
  readonly kubelet: (request: object) => Promise<unknown>;
}

/** Runs all scenes. Rejects when a step does not succeed in time. */
export async function runVmAfxdpDemo(testCluster: TestCluster, narrator: Narrator): Promise<void> {
  const demo = await startNode(testCluster, narrator);
  await showPolicies(demo);
  await showPod(demo);
  await showReset(demo);
}

async function startNode(testCluster: TestCluster, narrator: Narrator): Promise<Demo> {
  narrator.scene("One node with a real kernel: QEMU with two ports whose NIC can create subfunctions");
  const disk = await dpdkDisk(testCluster.directory);
  const worker = testCluster.use(
    await bootGuestNode(testCluster, node, { udev: true, driver: "igbsw", disks: [disk] }),
  );
  const { guest } = worker;
  const shell = (command: string) => runInGuest(guest, narrator, command);
  await prepareGuestPod(guest, worker.share);
  await shell("uname -rv; ip -br link");

  await apply(testCluster, "AfxdpOperatorConfig", "default", {});
  narrator.line(node, "config-daemon and afxdp-device-plugin start in the guest, and a program that plays the kubelet");
  worker.startDaemon();
  const { kubelet, startPlugin } = await startGuestAfxdpNode(worker, node);
  startPlugin();
  await waitFor(testCluster, `afxdpnetworknodestate/${node}`, "Ready");
  const columns = "{.pciAddress} {.name} {.driver} queues {.queues} maxSfs {.maxSfs}";
  await show(testCluster, `afxdpnetworknodestate/${node}`, `{range .status.interfaces[*]}${columns}{"\\n"}{end}`);
  return { testCluster, narrator, guest, shell, kubelet };
}

async function showPolicies({ testCluster, narrator, shell, kubelet }: Demo): Promise<void> {
  narrator.scene("Two policies: two subfunctions of the first port with MTU 1400, and the second port as a whole");
  await setPolicy(testCluster, "subfunctions", { nicSelector: { rootDevices: [split] }, numSfs: 2, mtu: 1400 });
  // Packets of the other port may arrive at any queue, and testpmd reads one.
  const ofUser = { uid: 1500, queues: 1 };
  await setPolicy(testCluster, "port", { nicSelector: { rootDevices: [whole] }, mode: "primary", ...ofUser });
  for (const name of ["subfunctions", "port"]) await waitFor(testCluster, `afxdpnetworknodepolicy/${name}`, "Ready");
  await testCluster.kubectl(["get", "afxdpnetworknodepolicies,afxdpnetworknodestates"]);
  await shell(`devlink dev eswitch show pci/${split}; devlink port show; grep . /sys/bus/auxiliary/devices/*/sfnum`);
  for (const [name, count] of [["subfunctions", 2] as const, ["port", 1] as const]) {
    await isAnnounced({ narrator, kubelet }, name, count);
  }
}

async function showPod({ testCluster, narrator, guest, shell, kubelet }: Demo): Promise<void> {
  narrator.scene("A network for the pool, and a pod whose user 1500 receives packets with DPDK's testpmd");
  await apply(testCluster, "AfxdpNetwork", "fast-path", { poolName: "port", networkNamespace: "default" });
  await waitFor(testCluster, "afxdpnetwork/fast-path", "Ready");
  const path = ["get", "net-attach-def", "fast-path", "-n", "default", "-o", "jsonpath={.spec.config}"];
  const config = await testCluster.kubectl(path);
  const { mounts } = (await kubelet({ allocate: { resource: "afxdp/port", ids: [whole] } })) as Pick<
    TestpmdContainer,
    "mounts"
  >;
  narrator.line("kubelet", `mounts ${mounts.map(({ containerPath }) => containerPath).join(", ")}`);
  await cni(guest, "ADD", config);
  const devices = [{ resourceName: "afxdp/port", ids: [whole] }];
  await kubelet({ pods: [{ name: "dpdk", namespace: "default", containers: [{ name: "app", devices }] }] });
  await shell("ip -n pod -d link show net1 | grep -o 'prog/xdp.*'; ip -n pod -br link");

  const neighbour = "ip neigh replace 192.0.2.77 lladdr ff:ff:ff:ff:ff:ff dev enp1s0f0np0";
  await run(guest, `ip link set enp1s0f0np0 up; ip address add 192.0.2.1/24 dev enp1s0f0np0; ${neighbour}`);
  const sender = guest.spawn("while sleep 0.2; do bash -c 'echo hello >/dev/udp/192.0.2.77/9'; done");
  const driver = "iface=net1,use_cni=1,dp_path=/tmp/afxdp_dp/enp1s0f1np1/afxdp.sock";
  narrator.line("pod", `testpmd starts with ${driver}`);
  const testpmd = await startGuestTestpmd(guest, { podName: "dpdk", mounts, driver });
  narrator.line("pod", `testpmd reports RX-packets: ${await testpmd.received()}`);
  await testpmd[Symbol.asyncDispose]();
  sender.kill("SIGKILL");

  narrator.scene("The pod ends: the port is back on the node");
  await cni(guest, "DEL", config);
  await kubelet({ pods: [] });
  await shell("ip -br link show enp1s0f1np1");
}

async function showReset({ testCluster, narrator, guest, shell, kubelet }: Demo): Promise<void> {
  narrator.scene("The policies are deleted: no subfunction, XDP program or announced device is left");
  await testCluster.kubectl(["delete", "afxdpnetworknodepolicies", "--all", "-n", namespace]);
  for (const name of ["subfunctions", "port"]) {
    await isAnnounced({ narrator, kubelet }, name, 0);
  }
  const traces = [
    `devlink port show | grep pcisf; devlink dev eswitch show pci/${split} | grep switchdev`,
    "ip -d link show enp1s0f1np1 | grep prog/xdp; find /sys/fs/bpf /run/switchyard/afxdp -type f ! -name '*.lock'",
  ].join("; ");
  const isReset = async (): Promise<boolean> => (await guest.exec(traces, { timeoutMs })).stdout === "";
  await eventually("nothing is left", isReset, { withinMs: timeoutMs });
  await shell(`devlink dev eswitch show pci/${split}; devlink port show; ${traces}`);
}

/** Calls host-device with the configuration of the NetworkAttachmentDefinition. */
async function cni(guest: Guest, command: "ADD" | "DEL", config: string): Promise<void> {
  await callHostDevice(guest, command, { config: JSON.parse(config) as object, deviceID: whole });
}

function setPolicy(testCluster: TestCluster, name: string, spec: object): Promise<void> {
  return apply(testCluster, "AfxdpNetworkNodePolicy", name, {
    poolName: name,
    nodeSelector: { "node-role.kubernetes.io/worker": "" },
    ...spec,
  });
}

async function apply(testCluster: TestCluster, kind: string, name: string, spec: object): Promise<void> {
  await testCluster.kubectl(["apply", "-f", "-"], { apiVersion, kind, metadata: { name, namespace }, spec });
}

async function show(testCluster: TestCluster, object: string, path: string): Promise<void> {
  await testCluster.kubectl(["get", object, "-n", namespace, "-o", `jsonpath=${path}`]);
}

/** Runs a command of the scenery, which is not printed. */
async function run(guest: Guest, command: string): Promise<void> {
  const { code, stdout, stderr } = await guest.exec(command, { timeoutMs });
  if (code !== 0) throw new Error(`in the VM, ${command}: ${stderr}${stdout}`);
}

async function isAnnounced(
  { kubelet, narrator }: Pick<Demo, "kubelet" | "narrator">,
  pool: string,
  count: number,
): Promise<void> {
  const announced = (await kubelet({ until: { resource: `afxdp/${pool}`, count } })) as readonly {
    readonly id: string;
  }[];
  const ids = announced.map(({ id }) => id).join(", ");
  if (announced.length !== count) throw new Error(`afxdp/${pool}: ${count} devices expected, not: ${ids}`);
  narrator.line("kubelet", `afxdp/${pool}: ${count === 0 ? "no devices" : ids}`);
}
