// SPDX-License-Identifier: Apache-2.0
/**
 * bootPluginGuest boots a guest with the device plugin, the CNI plugin host-device and DPDK, and a network namespace for a pod.
 */
import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { callHostDevice, dpdkDisk, prepareGuestPod } from "@switchyard/demo/guest-pod";
import { bootGuest, bundleForGuest, type Guest, type MachineOptions } from "@switchyard/vm-lab";

export interface PluginGuest extends AsyncDisposable {
  readonly guest: Guest;
  /** Runs a command in the guest and returns its output without white space around it. Rejects if it fails. */
  run(command: string): Promise<string>;
  /** Asks the process of the device plugin, as plugin-process.ts says. */
  ask(request: unknown): Promise<unknown>;
  /** Calls host-device as Multus does, for the interface net1 of the pod. Returns its output. */
  cni(command: "ADD" | "DEL", deviceID: string): Promise<string>;
}

const config = { cniVersion: "1.0.0", name: "fast", type: "host-device" };

export async function bootPluginGuest(machine: MachineOptions = {}): Promise<PluginGuest> {
  await using stack = new AsyncDisposableStack();
  const share = await mkdtemp(join(tmpdir(), "switchyard-afxdp-guest-"));
  stack.defer(() => rm(share, { recursive: true, force: true }));
  await cp(await bundleForGuest("apps/afxdp-device-plugin/src/testing/plugin-process.ts"), share, { recursive: true });
  const disks = [await dpdkDisk(share)];
  const guest = stack.use(await bootGuest({ ...machine, udev: true, share, disks }));
  await prepareGuestPod(guest, share);
  await guest.exec("mkdir -p /sys/fs/bpf/afxdp /run/plugin");
  const plugin = guest.spawn(["node", "/share/main.mjs", "/run/plugin", "/sys/fs/bpf/afxdp"], { input: true });
  let problems = "";
  plugin.stderr.setEncoding("utf8").on("data", (text: string) => {
    problems += text;
  });
  const answers = createInterface({ input: plugin.stdout })[Symbol.asyncIterator]();
  const owned = stack.move();
  return {
    guest,
    async run(command) {
      const { code, stdout, stderr } = await guest.exec(command, { timeoutMs: 180_000 });
      if (code !== 0) throw new Error(`${command}: ${stderr}`);
      return stdout.trim();
    },
    async ask(request) {
      await plugin.write(`${JSON.stringify(request)}\n`);
      const { value } = (await answers.next()) as { readonly value?: string };
      if (value === undefined) throw new Error(`the device plugin ended: ${problems}`);
      return JSON.parse(value) as unknown;
    },
    cni: (command, deviceID) => callHostDevice(guest, command, { config, deviceID }),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
