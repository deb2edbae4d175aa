// SPDX-License-Identifier: Apache-2.0
/** Subfunctions need hardware or the VM lab (contract cases). These tests simulate kernels that the lab does not have. */
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { NetlinkSocket, protocols } from "@switchyard/netlink";
import { ack, createFakeKernel, done, reply } from "@switchyard/netlink/testing";
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pci } from "../../testing/nic-models.ts";
import { createLinuxSubfunctions } from "./linux-subfunctions.ts";

const pf = pci("0000:06:00.1");
const controller = 16;
const familyId = Buffer.from("010200000600010015000000", "hex"); // CTRL_ATTR_FAMILY_ID 21

function attribute(type: number, value: Buffer): Buffer {
  const encoded = Buffer.alloc(4 + ((value.length + 3) & ~3));
  encoded.writeUInt16LE(4 + value.length, 0);
  encoded.writeUInt16LE(type, 2);
  value.copy(encoded, 4);
  return encoded;
}

const text = (type: number, value: string) => attribute(type, Buffer.from(`${value}\0`));
const u16 = (type: number, value: number) => attribute(type, Buffer.of(value & 255, value >> 8));
const u32 = (type: number, value: number) => attribute(type, Buffer.of(value & 255, value >> 8, 0, 0));

/** A port of a subfunction; `more` are attributes of its function. */
function port(sfNumber: number, { more = [], isExternal = 0 }: { more?: readonly Buffer[]; isExternal?: number } = {}) {
  return Buffer.concat([
    ...[Buffer.of(7, 1, 0, 0), text(1, "pci"), text(2, pf), u32(3, 0x8000 + sfNumber)],
    ...[u16(77, 7), u32(164, sfNumber), attribute(149, Buffer.of(isExternal))],
    attribute(145, Buffer.concat([attribute(2, Buffer.of(1)), attribute(3, Buffer.of(1)), ...more])),
  ]);
}

describe("Subfunctions without hardware", () => {
  let root: string;

  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), "subfunctions-"));
  });
  afterEach(() => rm(root, { recursive: true }));

  function open(ports: readonly Buffer[]) {
    const kernel = createFakeKernel((asked) => {
      if (asked.type === controller) return [reply(asked, controller, familyId), ack(asked)];
      return [...ports.map((each) => reply(asked, 21, each)), done(asked)];
    });
    const openSocket = () => new NetlinkSocket({ protocol: protocols.generic, libc: kernel });
    return { kernel, subfunctions: createLinuxSubfunctions({ root, socket: openSocket(), openSocket }) };
  }

  async function addDevice(name: string, sfnum: string, netdev: string): Promise<void> {
    const device = join(root, "sys/bus/pci/devices", pf, name);
    await mkdir(join(device, "net", netdev), { recursive: true });
    await writeFile(join(device, "sfnum"), `${sfnum}\n`);
    await symlink("../../bus/auxiliary/drivers/mlx5_core.sf", join(device, "driver"));
    await mkdir(join(root, "sys/bus/auxiliary/devices"), { recursive: true });
    await symlink(device, join(root, "sys/bus/auxiliary/devices", name));
  }

  it("finds the device by its file sfnum if the kernel does not report the instance", async () => {
    await addDevice("mlx5_core.sf.4", "88", "odd-name");
    await addDevice("mlx5_core.sf.88", "4", "other");
    await expect(open([port(88), port(7)]).subfunctions.list()).resolves.toEqual([
      { pf, portIndex: 0x8007, sfNumber: 7, state: "active", operationalState: "attached" },
      {
        pf,
        portIndex: 0x8058,
        sfNumber: 88,
        state: "active",
        operationalState: "attached",
        device: "mlx5_core.sf.4",
        driver: "mlx5_core.sf",
        netdev: "odd-name",
      },
    ]);
  });

  it("prefers the instance that the kernel reports, and leaves no directory by its name", async () => {
    await addDevice("mlx5_core.sf.4", "88", "wrong");
    await addDevice("mlx5_core.sf.5", "1", "right");
    const instance = (device: string) => attribute(5, Buffer.concat([text(1, "auxiliary"), text(2, device)]));
    const [found] = await open([port(88, { more: [instance("mlx5_core.sf.5")] })]).subfunctions.list();
    expect(found).toMatchObject({ device: "mlx5_core.sf.5", netdev: "right" });
    const [hostile] = await open([port(88, { more: [instance("../../pci/devices")] })]).subfunctions.list();
    expect(hostile).not.toHaveProperty("netdev");
  });

  it("leaves out subfunctions of another host", async () => {
    await expect(open([port(3, { isExternal: 1 })]).subfunctions.list()).resolves.toEqual([]);
  });

  const physical = (device: string, number: number) => {
    return Buffer.concat([
      ...[Buffer.of(7, 1, 0, 0), text(1, "pci"), text(2, device), u32(3, 0xffff)],
      ...[u16(77, 0), u32(78, number)],
    ]);
  };
  const ofPf = (number: number, isExternal = 0) => Buffer.concat([port(9, { isExternal }), u16(127, number)]);
  it.each([
    { of: "another port of the PF", ports: [physical(pf, 5), ofPf(3)], number: 3 },
    { of: "its physical port", ports: [physical("0000:06:00.0", 7), physical(pf, 5)], number: 5 },
    { of: "its physical port, not of another host's function", ports: [ofPf(3, 1), physical(pf, 5)], number: 5 },
    { of: "the PCI function if no port says it", ports: [physical("0000:06:00.0", 7), port(8)], number: 1 },
  ])("creates with the PF number of $of", async ({ ports, number }) => {
    const { kernel, subfunctions } = open(ports);
    await subfunctions.create(pf, 9);
    expect(kernel.requests.at(-1)?.payload.includes(u16(127, number))).toBe(true);
  });

  it("lists the ports once for all subfunctions of a PF", async () => {
    const { kernel, subfunctions } = open([port(9)]);
    await expect(subfunctions.create(pf, 9)).resolves.toBe(0x8009);
    const before = kernel.requests.length;
    await subfunctions.create(pf, 9);
    expect(kernel.requests.length - before).toBe(1);
    expect(kernel.countOpen()).toBe(2); // changes share a socket
  });

  it("has no subfunctions, and rejects with ENODEV, if the kernel has no devlink", async () => {
    const kernel = createFakeKernel((asked) => [ack(asked, { code: "ENOENT" })]);
    const openSocket = () => new NetlinkSocket({ protocol: protocols.generic, libc: kernel });
    const subfunctions = createLinuxSubfunctions({ root, socket: openSocket(), openSocket });
    await expect(subfunctions.list()).resolves.toEqual([]);
    await expect(subfunctions.create(pf, 1)).rejects.toMatchObject({
      message: "create subfunction 1 on 0000:06:00.1: ENODEV (the kernel has no devlink)",
    });
  });
});
