// SPDX-License-Identifier: Apache-2.0
/** The expected bytes are requests of `devlink` (iproute2 6.1), captured with 0x15 as id of the family. */
import { describe, expect, it } from "@jest/globals";
import { resolveFamily } from "../generic-netlink.ts";
import { protocols } from "../libc.ts";
import { NetlinkSocket } from "../netlink-socket.ts";
import { ack, createFakeKernel, reply, type FakeKernel, type Respond } from "../testing/fake-kernel.ts";
import { u16 } from "../wire/attributes.ts";
import { encodeMessage, type Message } from "../wire/message.ts";
import { devlinkFamily, getEswitchMode, setEswitchMode } from "./devlink.ts";

// Set to 0: the sequence number (bytes 8 to 11), a timestamp, and the version of the controller (byte 17), which is ignored.
const golden = {
  getFamily: "20000000100005000000000000000000030000000c0002006465766c696e6b00",
  eswitchShow: "300000001500050000000000000000001d000000080001007063690011000200303030303a30363a30302e3000000000",
  eswitchSet:
    "380000001500050000000000000000001e000000080001007063690011000200303030303a30363a30302e3000000000" +
    "0600190001000000",
};

const pf = { bus: "pci", device: "0000:06:00.0" };

/** Returns a fake kernel with devlink and these replies of the eswitch. */
function openDevlink(eswitch: Respond): { kernel: FakeKernel; socket: NetlinkSocket } {
  const kernel = createFakeKernel((asked) => {
    if (asked.type !== 16) return eswitch(asked);
    return [reply(asked, 16, Buffer.concat([Buffer.of(1, 2, 0, 0), u16(1, 0x15)])), ack(asked)];
  });
  return { kernel, socket: new NetlinkSocket({ protocol: protocols.generic, libc: kernel }) };
}

function mode(asked: Message, value: number): readonly Buffer[] {
  return [reply(asked, 0x15, Buffer.concat([Buffer.of(29, 1, 0, 0), u16(25, value)])), ack(asked)];
}

function sent(kernel: FakeKernel): readonly string[] {
  return kernel.requests.map((each) => encodeMessage({ ...each, sequence: 0 }, each.payload).toString("hex"));
}

async function devlink(socket: NetlinkSocket) {
  const family = await resolveFamily(socket, devlinkFamily);
  if (family === undefined) throw new Error("no devlink family");
  return family;
}

describe("devlink", () => {
  it("sends the same requests as iproute2", async () => {
    const { kernel, socket } = openDevlink((asked) => mode(asked, 1));
    const family = await devlink(socket);
    await expect(getEswitchMode(family, pf)).resolves.toBe("switchdev");
    await setEswitchMode(family, pf, "switchdev");
    expect(sent(kernel)).toEqual([golden.getFamily, golden.eswitchShow, golden.eswitchSet]);
    await socket[Symbol.asyncDispose]();
  });

  it("reads the mode legacy", async () => {
    const { socket } = openDevlink((asked) => mode(asked, 0));
    await expect(getEswitchMode(await devlink(socket), pf)).resolves.toBe("legacy");
    await socket[Symbol.asyncDispose]();
  });

  it.each(["ENODEV", "EOPNOTSUPP"] as const)("rejects with the kernel's %s", async (code) => {
    const { socket } = openDevlink((asked) => [ack(asked, { code })]);
    const read = getEswitchMode(await devlink(socket), pf);
    await expect(read).rejects.toMatchObject({ code, tried: "read eswitch mode of pci/0000:06:00.0" });
    await socket[Symbol.asyncDispose]();
  });

  it("rejects with malformed for an unknown and for a missing mode", async () => {
    const answers: Respond[] = [(asked) => mode(asked, 7), (asked) => [ack(asked)]];
    for (const respond of answers) {
      const { socket } = openDevlink(respond);
      await expect(getEswitchMode(await devlink(socket), pf)).rejects.toMatchObject({ code: "malformed" });
      await socket[Symbol.asyncDispose]();
    }
  });

  it("has no family if the kernel has no devlink", async () => {
    const kernel = createFakeKernel((asked) => [ack(asked, { code: "ENOENT" })]);
    await using socket = new NetlinkSocket({ protocol: protocols.generic, libc: kernel });
    await expect(resolveFamily(socket, devlinkFamily)).resolves.toBeUndefined();
  });
});
