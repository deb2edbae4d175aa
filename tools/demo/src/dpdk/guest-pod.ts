// SPDX-License-Identifier: Apache-2.0
/**
 * A pod in a guest of the VM lab: a network namespace, which the CNI plugin host-device gives interfaces to, and DPDK's testpmd as its
 * container. The guest needs the disk of dpdkDisk() as its second one, and a shared directory.
 * Usage: `await prepareGuestPod(guest, share); await callHostDevice(guest, "ADD", { config, deviceID });`
 */
import { execFile } from "node:child_process";
import { once } from "node:events";
import { copyFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { goPrograms } from "@switchyard/go-programs";
import type { Guest } from "@switchyard/vm-lab";
import { debianDpdk } from "./debian-dpdk.ts";
import { testpmdCommand, type TestpmdContainer } from "./testpmd.ts";

/** The network namespace of the pod. */
const podNetns = "/run/netns/pod";
const tree = "/dpdk";
const timeoutMs = 180_000;
const setup = `mkdir ${tree} && mount /dev/vdb ${tree} && ip netns add pod && ip -n pod link set lo up
mountpoint -q /sys/fs/bpf || mount -t bpf bpf /sys/fs/bpf`;

/** A call of host-device, as Multus makes it. */
export interface HostDeviceCall {
  /** The CNI configuration, such as that of a NetworkAttachmentDefinition. */
  readonly config: object;
  /** The id of the device that the kubelet gave to the pod; absent if the configuration names the device. */
  readonly deviceID?: string;
}

/** A testpmd that has received packets. */
export interface GuestTestpmd extends AsyncDisposable {
  /** Resolves with the number of packets when testpmd has received more than at the last call. Rejects with its output if it ends. */
  received(): Promise<number>;
}

/** Writes the tree of debianDpdk() to an image of a disk in the directory, and returns its path. */
export async function dpdkDisk(directory: string): Promise<string> {
  const disk = join(directory, "dpdk.ext4");
  await promisify(execFile)("mke2fs", ["-q", "-t", "ext4", "-d", await debianDpdk(), disk, "600M"]);
  return disk;
}

/** `share` is the directory that the guest has at /share. */
export async function prepareGuestPod(guest: Guest, share: string): Promise<void> {
  await copyFile(join(await goPrograms("cni-plugins"), "host-device"), join(share, "host-device"));
  const { code, stderr } = await guest.exec(setup, { timeoutMs });
  if (code !== 0) throw new Error(`set up of the pod in the guest: ${stderr}`);
}

/** Calls host-device for the interface net1 of the pod, and returns its output. Rejects with its error. */
export async function callHostDevice(guest: Guest, command: "ADD" | "DEL", call: HostDeviceCall): Promise<string> {
  const { config, deviceID } = call;
  const network = { ...config, ...(deviceID !== undefined && { runtimeConfig: { deviceID } }) };
  const variables = `CNI_COMMAND=${command} CNI_IFNAME=net1 CNI_NETNS=${podNetns} CNI_CONTAINERID=pod CNI_PATH=/nowhere`;
  const run = `echo '${JSON.stringify(network)}' | ${variables} /share/host-device`;
  const { code, stdout, stderr } = await guest.exec(run, { timeoutMs });
  if (code !== 0) throw new Error(`host-device, ${command}: ${stdout}${stderr}`);
  return stdout;
}

/** Starts testpmd, and resolves when it has received packets. Rejects with its output if it ends before. */
export async function startGuestTestpmd(
  guest: Guest,
  container: Omit<TestpmdContainer, "namespaces" | "tree" | "capabilities">,
): Promise<GuestTestpmd> {
  const namespaces = { mount: "/proc/1/ns/mnt", net: podNetns };
  const capabilities = ["net_raw", "ipc_lock"];
  const testpmd = guest.spawn(testpmdCommand({ ...container, namespaces, tree, capabilities }), { input: true });
  let output = "";
  for (const stream of [testpmd.stdout, testpmd.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
  }
  const ended = testpmd.exitCode.then(() => true);
  let before = 0;

  async function received(): Promise<number> {
    for (;;) {
      const count = Number(/.*RX-packets: (\d+)/s.exec(output)?.[1] ?? "0");
      if (count > before) {
        before = count;
        return count;
      }
      const isOver = await Promise.race([ended, once(testpmd.stdout, "data").then(() => false)]);
      if (isOver) throw new Error(`testpmd received nothing: ${output}`);
    }
  }

  await received();
  return {
    received,
    async [Symbol.asyncDispose]() {
      testpmd.kill("SIGKILL");
      await testpmd.exitCode;
    },
  };
}
