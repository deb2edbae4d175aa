// SPDX-License-Identifier: Apache-2.0
/** The expected bytes are requests of `devlink` (iproute2 6.1), captured with 0x15 as id of the family. */
import { describe, expect, it } from "@jest/globals";
import fc from "fast-check";
import { protocols } from "../libc.ts";
import { NetlinkError } from "../netlink-error.ts";
import { NetlinkSocket } from "../netlink-socket.ts";
import { ack, createFakeKernel, done, reply, type Respond } from "../testing/fake-kernel.ts";
import { bytes, nested, text, u16, u32 } from "../wire/attributes.ts";
import { encodeMessage, messageFlags, type Message } from "../wire/message.ts";
import { addSubfunctionPort, deletePort, listDevlinkPorts, setPortAddress, setPortState } from "./port.ts";
import { listResources } from "./devlink.ts";

// Set to 0: the sequence number (bytes 8 to 11) and the version of the family (byte 17), which is ignored.
const handleHex = "080001007063690011000200303030303a30363a30302e3000000000";
const golden = {
  add: `4800000015000500000000000000000007000000${handleHex}06004d000700000006007f00000000000800a40058000000`,
  address: `4800000015000500000000000000000006000000${handleHex}0800030000800000100091800a0001000000000088880000`,
  active: `4400000015000500000000000000000006000000${handleHex}08000300008000000c0091800500020001000000`,
  inactive: `4400000015000500000000000000000006000000${handleHex}08000300008000000c0091800500020000000000`,
  del: `3800000015000500000000000000000008000000${handleHex}0800030000800000`,
  list: "1400000015000503000000000000000005000000",
  resources: `3000000015000500000000000000000024000000${handleHex}`,
};

const pf = { bus: "pci", device: "0000:06:00.0" };
const port = { handle: pf, index: 0x8000 };
const handle = [text(1, "pci"), text(2, "0000:06:00.0")];

function open(respond: Respond) {
  const kernel = createFakeKernel(respond);
  const socket = new NetlinkSocket({ protocol: protocols.generic, libc: kernel });
  const sent = () =>
    kernel.requests.map((each) => encodeMessage({ ...each, sequence: 0 }, each.payload).toString("hex"));
  return { kernel, sent, family: { socket, id: 0x15 } };
}

/** Answers each request with one message of these attributes. */
function answering(...attributes: readonly Buffer[]): Respond {
  const message = (asked: Message) => reply(asked, 0x15, Buffer.concat([Buffer.of(7, 1, 0, 0), ...attributes]));
  return (asked) => {
    const isDump = (asked.flags & messageFlags.dump) === messageFlags.dump;
    return [message(asked), isDump ? done(asked) : ack(asked)];
  };
}

/** What the kernel sends about an active subfunction (igbsw of the VM lab has the same attributes). */
const subfunction = [
  ...handle,
  u32(3, 0x8000),
  ...[u16(4, 2), u32(6, 12), text(7, "eth7"), u16(77, 7), u32(150, 0), u16(127, 1), u32(164, 88)],
  bytes(149, Buffer.of(0)),
  nested(145, [
    bytes(1, Buffer.from("020000008888", "hex")),
    ...[bytes(2, Buffer.of(1)), bytes(3, Buffer.of(1))],
    nested(5, [text(1, "auxiliary"), text(2, "mlx5_core.sf.4")]),
  ]),
];

const parsed = {
  handle: pf,
  index: 0x8000,
  flavour: "pcisf",
  isExternal: false,
  pfNumber: 1,
  sfNumber: 88,
  netdev: { index: 12, name: "eth7" },
  function: {
    address: "02:00:00:00:88:88",
    state: "active",
    operationalState: "attached",
    instance: { bus: "auxiliary", device: "mlx5_core.sf.4" },
  },
};

describe("ports of devlink", () => {
  it("sends the same requests as iproute2", async () => {
    const { sent, family } = open(answering(...subfunction));
    await addSubfunctionPort(family, pf, { pfNumber: 0, sfNumber: 88 });
    await setPortAddress(family, port, "00:00:00:00:88:88");
    await setPortState(family, port, "active");
    await setPortState(family, port, "inactive");
    await deletePort(family, port);
    await listDevlinkPorts(family);
    await listResources(family, pf);
    const { add, address, active, inactive, del, list, resources } = golden;
    expect(sent()).toEqual([add, address, active, inactive, del, list, resources]);
  });

  it("reads a subfunction with the instance behind its port", async () => {
    const { family } = open(answering(...subfunction));
    await expect(listDevlinkPorts(family)).resolves.toEqual([parsed]);
    await expect(addSubfunctionPort(family, pf, { pfNumber: 1, sfNumber: 88 })).resolves.toEqual(parsed);
  });

  it("reads a port without function, and one of a flavour that is not known", async () => {
    const physical = open(answering(...handle, u32(3, 0xffff), u16(77, 0), u32(78, 3)));
    await expect(listDevlinkPorts(physical.family)).resolves.toEqual([
      { handle: pf, index: 0xffff, flavour: "physical", isExternal: false, portNumber: 3 },
    ]);
    const unknown = open(answering(...handle, u32(3, 1), u16(77, 99), nested(145, [bytes(2, Buffer.of(9))])));
    await expect(listDevlinkPorts(unknown.family)).resolves.toEqual([
      { handle: pf, index: 1, isExternal: false, function: {} },
    ]);
  });

  it("rejects with the words of the driver", async () => {
    const { family } = open((asked) => [
      ack(asked, { code: "EBUSY", words: "Subfunction with given sfnum already exists" }),
    ]);
    await expect(addSubfunctionPort(family, pf, { pfNumber: 0, sfNumber: 88 })).rejects.toMatchObject({
      message: "add subfunction 88 to pci/0000:06:00.0: EBUSY (Subfunction with given sfnum already exists)",
    });
  });

  it("takes any bytes: ports and resources, or NetlinkError", async () => {
    const types = fc.constantFrom(1, 2, 3, 6, 7, 63, 64, 65, 67, 74, 77, 78, 127, 145, 149, 164);
    const junk = fc.array(fc.tuple(types, fc.uint8Array({ maxLength: 40 })));
    await fc.assert(
      fc.asyncProperty(junk, async (attributes) => {
        const { family } = open(answering(...attributes.map(([type, value]) => bytes(type, Buffer.from(value)))));
        for (const read of [listDevlinkPorts(family), listResources(family, pf)]) {
          const result: unknown = await read.catch((error: unknown) => error);
          expect(Array.isArray(result) || result instanceof NetlinkError).toBe(true);
        }
      }),
    );
  });
});

describe("listResources", () => {
  it("reads names, sizes and what is in use", async () => {
    const u64 = (type: number, value: number) => {
      const encoded = Buffer.alloc(8);
      encoded.writeBigUInt64LE(BigInt(value));
      return bytes(type, encoded);
    };
    const resource = (name: string, ...numbers: readonly Buffer[]) => nested(64, [text(65, name), ...numbers]);
    const list = nested(63, [
      resource("max_local_SFs", u64(66, 1), u64(67, 64), u64(74, 3)),
      resource("other", u64(67, 7)),
    ]);
    const { family } = open(answering(...handle, list));
    await expect(listResources(family, pf)).resolves.toEqual([
      { name: "max_local_SFs", size: 64, occupied: 3 },
      { name: "other", size: 7 },
    ]);
  });
});
