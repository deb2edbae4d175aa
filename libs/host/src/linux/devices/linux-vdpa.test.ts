// SPDX-License-Identifier: Apache-2.0
/** The contract suite tests the adapter on a real kernel, and libs/netlink tests the messages. */
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { NetlinkSocket, protocols } from "@switchyard/netlink";
import { ack, createFakeKernel, type Respond } from "@switchyard/netlink/testing";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLinuxVdpa } from "./linux-vdpa.ts";

const name = "vdpa:0000:3b:00.2";
const management = { bus: "pci", device: "0000:3b:00.2" };
let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "vdpa-"));
});
afterEach(() => rm(root, { recursive: true }));

function createVdpa(respond: Respond) {
  const kernel = createFakeKernel(respond);
  return {
    kernel,
    vdpa: createLinuxVdpa({ root, socket: new NetlinkSocket({ protocol: protocols.generic, libc: kernel }) }),
  };
}

const refuse: Respond = (asked) => [ack(asked, { code: "ENOENT" })];

describe("without the vDPA bus", () => {
  it("asks the kernel nothing, because that would make it load a module", async () => {
    const { kernel, vdpa } = createVdpa(refuse);
    expect([await vdpa.listManagementDevices(), await vdpa.listDevices()]).toEqual([[], []]);
    await expect(vdpa.addDevice({ name, management })).rejects.toThrow(
      `add vDPA device ${name} on 0000:3b:00.2: ENODEV (vDPA is not loaded)`,
    );
    await expect(vdpa.removeDevice(name)).rejects.toMatchObject({ name: "HostError", code: "ENODEV" });
    expect(kernel.requests).toEqual([]);
  });
});

describe("with the vDPA bus", () => {
  const directory = () => join(root, "sys/bus/vdpa/devices", name);
  beforeEach(async () => {
    await mkdir(join(directory(), "driver"), { recursive: true });
    for (const file of ["driver_override", "driver/unbind"]) await writeFile(join(directory(), file), "");
    await mkdir(join(root, "sys/bus/vdpa/drivers/vhost_vdpa"), { recursive: true });
    await writeFile(join(root, "sys/bus/vdpa/drivers/vhost_vdpa/bind"), "");
  });

  it("returns no devices if the kernel does not have the netlink family", async () => {
    const { kernel, vdpa } = createVdpa(refuse);
    expect(await vdpa.listDevices()).toEqual([]);
    expect(kernel.requests).toHaveLength(1);
  });

  it("reports the answer of the kernel", async () => {
    const { vdpa } = createVdpa((asked) => [ack(asked, { code: "EPERM" })]);
    await expect(vdpa.listDevices()).rejects.toThrow("list on vDPA devices: EPERM");
    await expect(vdpa.removeDevice(name)).rejects.toThrow(`remove vDPA device on ${name}: EPERM`);
  });

  it("writes the files of the bus", async () => {
    const { vdpa } = createVdpa(refuse);
    await vdpa.setDriverOverride(name, "vhost_vdpa");
    await vdpa.bindDriver(name, "vhost_vdpa");
    await vdpa.unbindDriver(name);
    const read = (path: string) => readFile(join(root, "sys/bus/vdpa", path), "utf8");
    expect(await read(`devices/${name}/driver_override`)).toBe("vhost_vdpa");
    expect(await read("drivers/vhost_vdpa/bind")).toBe(name);
    expect(await read(`devices/${name}/driver/unbind`)).toBe(name);
    await expect(vdpa.bindDriver(name, "virtio_vdpa")).rejects.toMatchObject({ code: "ENOENT" });
  });
});
