// SPDX-License-Identifier: Apache-2.0
/**
 * Tests the steps for vDPA devices on a real kernel, one by one and repeated: the virtio NIC of the guest becomes a vDPA management
 * device of the PCI bus (vp_vdpa). vm/vdpa-virtio tests the daemon with VFs, and vm/host-contract the port with the simulator
 * vdpa_sim_net.
 */
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { bootGuest, bundleForGuest, type Guest } from "@switchyard/vm-lab";
import { disposeOf } from "../src/dispose-of.ts";

const limitMs = 300_000;
let guest: Guest;
let nic: string;

beforeAll(async () => {
  const share = await bundleForGuest("apps/config-daemon/src/testing/vdpa-steps-main.ts");
  guest = await bootGuest({ udev: true, share });
  nic = await run("basename $(readlink -f /sys/class/net/lab0/device/..)");
  await run("modprobe vp_vdpa");
  const device = `/sys/bus/pci/devices/${nic}`;
  await run(`echo vp-vdpa > ${device}/driver_override; echo ${nic} > ${device}/driver/unbind`);
  await run(`echo ${nic} > /sys/bus/pci/drivers_probe`);
}, 900_000);
afterAll(async () => {
  await disposeOf(guest);
});

async function run(command: string): Promise<string> {
  const { code, stdout, stderr } = await guest.exec(command, { timeoutMs: limitMs });
  expect({ command, code, stderr }).toMatchObject({ command, code: 0 });
  return stdout.trim();
}

/** Runs the steps, and returns the devices after each of them. */
async function steps(...words: readonly ("virtio" | "vhost" | "remove")[]): Promise<readonly unknown[]> {
  const lines = await run(`node /share/main.mjs ${nic} ${words.join(" ")}`);
  return lines.split("\n").map((line) => JSON.parse(line) as unknown);
}

function device(driver: string) {
  return [{ name: `vdpa:${nic}`, management: { bus: "pci", device: nic }, driver }];
}

/** The names of the devices as iproute2 reports them. */
async function shown(): Promise<readonly string[]> {
  const { dev = {} } = JSON.parse(await run("vdpa -j dev show")) as { dev?: Record<string, unknown> };
  return Object.keys(dev);
}

describe("vDPA devices on a real kernel", () => {
  it(
    "are created, bound to their driver, changed and removed",
    async () => {
      expect(await steps("vhost", "virtio", "vhost", "remove")).toEqual([
        ...[device("vhost_vdpa"), device("virtio_vdpa"), device("vhost_vdpa")],
        [],
      ]);
      expect(await shown()).toEqual([]);
    },
    limitMs,
  );

  it(
    "are a character device or a virtio interface of the host",
    async () => {
      await steps("vhost");
      expect(await run("ls -d /dev/vhost-vdpa-*")).toBe("/dev/vhost-vdpa-0");
      await steps("virtio");
      expect(await run("ls -d /dev/vhost-vdpa-* 2>/dev/null || true")).toBe("");
      expect(await run(`ls /sys/bus/pci/devices/${nic}/virtio*/net | wc -l`)).toBe("1");
      expect(await shown()).toEqual([`vdpa:${nic}`]);
      await steps("remove");
    },
    limitMs,
  );

  it(
    "are completed if the daemon was killed after it created them, and steps can be repeated",
    async () => {
      await run(`vdpa dev add name vdpa:${nic} mgmtdev pci/${nic}`);
      expect(await steps("virtio", "virtio", "remove", "remove")).toEqual([
        ...[device("virtio_vdpa"), device("virtio_vdpa")],
        ...[[], []],
      ]);
    },
    limitMs,
  );

  it(
    "are refused on a function that is not a management device",
    async () => {
      const { code, stderr } = await guest.exec("node /share/main.mjs 0000:01:00.0 vhost", { timeoutMs: limitMs });
      expect(code).not.toBe(0);
      expect(stderr).toContain("add vDPA device vdpa:0000:01:00.0 on 0000:01:00.0: ENODEV (the VF is not a vDPA");
      expect(await shown()).toEqual([]);
    },
    limitMs,
  );
});
