// SPDX-License-Identifier: Apache-2.0
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { mkdir, mkdtemp, rm, symlink, unlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
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
async function waitsUntil(act: () => Promise<void>): Promise<void> {
  const udev = createLinuxUdev(root);
  await expect(udev.settle({ timeoutMs: 20, signal })).rejects.toMatchObject({ code: "ETIMEDOUT" });
  const settling = udev.settle({ timeoutMs: 60_000, signal });
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

  it("rejects at the deadline", async () => {
    await writeFile(join(root, "run/udev/queue"), "");
    await expect(createLinuxUdev(root).settle({ timeoutMs: 20, signal })).rejects.toMatchObject({
      ...{ code: "ETIMEDOUT", message: "settle within 20 ms on udev: ETIMEDOUT" },
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
