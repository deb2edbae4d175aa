// SPDX-License-Identifier: Apache-2.0
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { defined, type PciAddress } from "@switchyard/api";
import { mkdir, mkdtemp, rm, symlink, unlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pci } from "../../testing/nic-models.ts";
import { createLinuxUdev } from "./linux-udev.ts";

let root: string;
const { signal } = new AbortController();

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "udev-"));
  await mkdir(join(root, "run/udev/data"), { recursive: true });
  await writeFile(join(root, "run/udev/control"), "");
});

afterEach(() => rm(root, { recursive: true }));

async function addInterface(name: string, index: number, device = "pci0000:00/0000:01:00.0"): Promise<void> {
  const directory = join(root, "sys/devices", device, "net", name);
  await mkdir(directory, { recursive: true });
  await writeFile(join(directory, "ifindex"), `${index}\n`);
  await mkdir(join(root, "sys/class/net"), { recursive: true });
  await symlink(join("../../devices", device, "net", name), join(root, "sys/class/net", name));
}

/** Expects that settle() waits until `act` is done, and not longer. */
async function waitsUntil(act: () => Promise<void>, pf?: PciAddress): Promise<void> {
  const udev = createLinuxUdev(root);
  const options = { signal, ...defined({ pf }) };
  await expect(udev.settle({ timeoutMs: 20, ...options })).rejects.toMatchObject({ code: "ETIMEDOUT" });
  const settling = udev.settle({ timeoutMs: 60_000, ...options });
  await act();
  await settling;
}

describe("createLinuxUdev", () => {
  it("does not wait if udev is idle", async () => {
    await createLinuxUdev(root).settle({ timeoutMs: 0, signal });
  });

  it("does not wait if udev does not run, even if its files exist", async () => {
    await writeFile(join(root, "run/udev/queue"), "");
    await unlink(join(root, "run/udev/control"));
    await createLinuxUdev(root).settle({ timeoutMs: 0, signal });
    await createLinuxUdev(join(root, "nowhere")).settle({ timeoutMs: 0, signal });
  });

  it("waits until the queue is empty", async () => {
    await writeFile(join(root, "run/udev/queue"), "");
    await waitsUntil(() => unlink(join(root, "run/udev/queue")));
  });

  it("waits for an interface that udev has not received yet", async () => {
    await addInterface("eth0", 7);
    await waitsUntil(() => writeFile(join(root, "run/udev/data/n7"), ""));
  });

  it("does not wait for virtual interfaces", async () => {
    await addInterface("veth0", 7, "virtual");
    await createLinuxUdev(root).settle({ timeoutMs: 0, signal });
  });

  describe("of a PF", () => {
    const pf = pci("0000:01:00.0");
    const pfDirectory = () => join(root, "sys/bus/pci/devices", pf);

    /** Udev is busy with another device. */
    beforeEach(async () => {
      await writeFile(join(root, "run/udev/queue"), "");
      await mkdir(pfDirectory(), { recursive: true });
      const attributes = {
        class: "0x020000",
        vendor: "0x8086",
        device: "0x10c9",
        sriov_totalvfs: "7",
        sriov_numvfs: "1",
      };
      for (const [name, text] of Object.entries(attributes)) await writeFile(join(pfDirectory(), name), `${text}\n`);
      await addFunction(pf, "igb", "eth0", 3);
      await addFunction("0000:01:10.0", "igbvf", "eth1", 4);
      await symlink("../0000:01:10.0", join(pfDirectory(), "virtfn0"));
      for (const index of [3, 4]) await writeFile(join(root, `run/udev/data/n${index}`), "");
    });

    async function addFunction(address: string, driver: string, name: string, index: number): Promise<void> {
      const directory = join(root, "sys/bus/pci/devices", address);
      await mkdir(join(directory, "net", name), { recursive: true });
      await writeFile(join(directory, "device"), "0x10ca\n");
      await symlink(`../../drivers/${driver}`, join(directory, "driver"));
      await addInterface(name, index, `pci0000:00/${address}`);
    }

    it("does not wait for events of other devices", async () => {
      await addInterface("eth9", 9, "pci0000:00/0000:02:00.0");
      await createLinuxUdev(root).settle({ timeoutMs: 0, signal, pf });
    });

    it("waits for the interfaces of its VFs", async () => {
      await unlink(join(root, "run/udev/data/n4"));
      await waitsUntil(() => writeFile(join(root, "run/udev/data/n4"), ""), pf);
    });

    it.each(["driver", "net"])("waits for all events while a VF has no %s", async (missing) => {
      await rm(join(root, "sys/bus/pci/devices/0000:01:10.0", missing), { recursive: true });
      await waitsUntil(() => unlink(join(root, "run/udev/queue")), pf);
    });

    it("waits for all events while VFs are missing, and if the PF has gone", async () => {
      await writeFile(join(pfDirectory(), "sriov_numvfs"), "2\n");
      await waitsUntil(() => unlink(join(root, "run/udev/queue")), pf);
      await writeFile(join(root, "run/udev/queue"), "");
      await waitsUntil(() => unlink(join(root, "run/udev/queue")), pci("0000:07:00.0"));
    });
  });

  it("rejects at the deadline", async () => {
    await writeFile(join(root, "run/udev/queue"), "");
    await expect(createLinuxUdev(root).settle({ timeoutMs: 20, signal })).rejects.toMatchObject({
      code: "ETIMEDOUT",
      message: "settle within 20 ms on udev: ETIMEDOUT",
    });
  });

  it("rejects when the signal aborts", async () => {
    await writeFile(join(root, "run/udev/queue"), "");
    const stop = new AbortController();
    const settling = createLinuxUdev(root).settle({ timeoutMs: 60_000, signal: stop.signal });
    stop.abort(new Error("shutting down"));
    await expect(settling).rejects.toThrow("shutting down");
  });
});
