// SPDX-License-Identifier: Apache-2.0
/**
 * bootPluginGuest boots a guest with the device plugin, the CNI plugin host-device and DPDK, and a network namespace for a pod.
 * Usage: `await using guest = await bootPluginGuest(); await guest.ask({ pools }); await guest.cni("ADD", "net1", "0000:01:00.1");`
 */
import { execFile } from "node:child_process";
import { copyFile, cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { goPrograms } from "@switchyard/go-programs";
import { bootGuest, bundleForGuest, type Guest } from "@switchyard/vm-lab";
import { debianDpdk } from "@switchyard/demo/debian-dpdk";

export interface PluginGuest extends AsyncDisposable {
  readonly guest: Guest;
  /** Asks the process of the device plugin, as plugin-process.ts says. */
  ask(request: unknown): Promise<unknown>;
  /** Calls host-device as Multus does, for an interface of the pod. Returns its output. */
  cni(command: "ADD" | "DEL", ifName: string, deviceID: string): Promise<string>;
}

/** The tree of DPDK in the guest, and the namespace of the pod. */
export const [tree, podNetns] = ["/dpdk", "/run/netns/pod"] as const;

const timeoutMs = 180_000;
const setup = `mkdir ${tree} && mount /dev/vdb ${tree} && ip netns add pod && ip -n pod link set lo up
mountpoint -q /sys/fs/bpf || mount -t bpf bpf /sys/fs/bpf; mkdir -p /sys/fs/bpf/afxdp /run/plugin`;

export async function bootPluginGuest(): Promise<PluginGuest> {
  await using stack = new AsyncDisposableStack();
  const share = await mkdtemp(join(tmpdir(), "switchyard-afxdp-guest-"));
  stack.defer(() => rm(share, { recursive: true, force: true }));
  await cp(await bundleForGuest("apps/afxdp-device-plugin/src/testing/plugin-process.ts"), share, { recursive: true });
  await copyFile(join(await goPrograms("cni-plugins"), "host-device"), join(share, "host-device"));
  const disk = join(share, "dpdk.ext4");
  await promisify(execFile)("mke2fs", ["-q", "-t", "ext4", "-d", await debianDpdk(), disk, "600M"]);
  const guest = stack.use(await bootGuest({ udev: true, driver: "igbsw", share, disks: [disk] }));
  const done = await guest.exec(setup, { timeoutMs });
  if (done.code !== 0) throw new Error(`set up of the guest: ${done.stderr}`);
  const plugin = guest.spawn(["node", "/share/main.mjs", "/run/plugin", "/sys/fs/bpf/afxdp"], { input: true });
  let problems = "";
  plugin.stderr.setEncoding("utf8").on("data", (text: string) => {
    problems += text;
  });
  const answers = createInterface({ input: plugin.stdout })[Symbol.asyncIterator]();
  const owned = stack.move();
  return {
    guest,
    async ask(request) {
      await plugin.write(`${JSON.stringify(request)}\n`);
      const { value } = (await answers.next()) as { readonly value?: string };
      if (value === undefined) throw new Error(`the device plugin ended: ${problems}`);
      return JSON.parse(value) as unknown;
    },
    async cni(command, ifName, deviceID) {
      const network = { cniVersion: "1.0.0", name: "fast", type: "host-device", runtimeConfig: { deviceID } };
      const variables = `CNI_COMMAND=${command} CNI_IFNAME=${ifName} CNI_NETNS=${podNetns} CNI_CONTAINERID=pod`;
      const call = `echo '${JSON.stringify(network)}' | CNI_PATH=/nowhere ${variables} /share/host-device`;
      return (await guest.exec(call, { timeoutMs })).stdout;
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
