// SPDX-License-Identifier: Apache-2.0
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { protocols } from "../libc.ts";
import { NetlinkError } from "../netlink-error.ts";
import { NetlinkSocket } from "../netlink-socket.ts";
import { getLink } from "../rtnetlink/list-links.ts";
import { ack, createFakeKernel, done, reply, type Respond } from "../testing/fake-kernel.ts";
import { createNetworkNamespace, missingForNamespaces, type NetworkNamespace } from "../testing/network-namespace.ts";
import { openXdpSocket } from "../testing/xdp-socket.ts";
import { bytes } from "../wire/attributes.ts";
import { encodeMessage } from "../wire/message.ts";
import { listXdpSockets } from "./xdp-sockets.ts";

/** The request of ss(8) for AF_XDP sockets (linux/xdp_diag.h), but only with the interface and the queue. */
const golden = "24000000140005030000000000000000" + "2c000000" + "00000000" + "01000000" + "0000000000000000";

/** struct xdp_diag_msg, then struct xdp_diag_info. */
function answer(index: number, queue: number, family = 44): Buffer {
  const header = Buffer.alloc(16);
  header.writeUInt8(family, 0);
  const info = Buffer.alloc(8);
  info.writeUInt32LE(index, 0);
  info.writeUInt32LE(queue, 4);
  return Buffer.concat([header, bytes(1, info)]);
}

const list =
  (...answers: readonly Buffer[]): Respond =>
  (asked) => [...answers.map((each) => reply(asked, 20, each)), done(asked)];

async function read(respond: Respond) {
  const kernel = createFakeKernel(respond);
  await using socket = new NetlinkSocket({ protocol: protocols.sockDiag, libc: kernel });
  return { found: await listXdpSockets(socket), requests: kernel.requests };
}

describe("listXdpSockets", () => {
  it("lists the sockets with an interface", async () => {
    const { found, requests } = await read(list(answer(7, 3), answer(0, 0), answer(7, 4)));
    expect(found).toEqual([
      { index: 7, queue: 3 },
      { index: 7, queue: 4 },
    ]);
    const sent = requests.map((each) => encodeMessage({ ...each, sequence: 0 }, each.payload).toString("hex"));
    expect(sent).toEqual([golden]);
  });

  it("rejects with ENOENT on a kernel that cannot list them", async () => {
    const refused = read((asked) => [ack(asked, { code: "ENOENT" })]);
    await expect(refused).rejects.toMatchObject({ code: "ENOENT", tried: "list AF_XDP sockets" });
  });

  it.each<{ what: string; bad: Buffer }>([
    { what: "a short description", bad: answer(7, 3).subarray(0, 15) },
    { what: "a socket without an interface", bad: answer(7, 3).subarray(0, 16) },
    { what: "a cut interface", bad: Buffer.concat([answer(7, 3).subarray(0, 16), bytes(1, Buffer.alloc(4))]) },
    { what: "a cut attribute", bad: answer(7, 3).subarray(0, 22) },
    { what: "a socket of another family", bad: answer(7, 3, 2) },
  ])("rejects with malformed for $what", async ({ bad }) => {
    await expect(read(list(bad))).rejects.toMatchObject({ code: "malformed" });
  });

  it("rejects with malformed for another kind of answer", async () => {
    const other: Respond = (asked) => [reply(asked, 16, answer(7, 3)), done(asked)];
    await expect(read(other)).rejects.toMatchObject({ code: "malformed" });
  });
});

const missing = missingForNamespaces();

(missing === undefined ? describe : describe.skip)("listXdpSockets on the real kernel", () => {
  let namespace: NetworkNamespace;
  let route: NetlinkSocket;
  beforeAll(async () => {
    namespace = await createNetworkNamespace();
    await namespace.run("ip", "link", "add", "v0", "type", "veth", "peer", "name", "v1");
    await namespace.run("ip", "link", "set", "v0", "up");
    route = new NetlinkSocket({ protocol: protocols.route, netns: namespace.path });
  });
  afterAll(async () => {
    await route[Symbol.asyncDispose]();
    await namespace[Symbol.asyncDispose]();
  });

  /** A kernel without the module refuses each time: the tests in the VM lab run on one that has it. */
  it("finds a socket until it is closed, or says that the kernel cannot list sockets", async () => {
    await using socket = new NetlinkSocket({ protocol: protocols.sockDiag, netns: namespace.path });
    const found = async () => {
      try {
        return await listXdpSockets(socket);
      } catch (error) {
        if (error instanceof NetlinkError && error.code === "ENOENT") return "not known";
        throw error;
      }
    };
    const { index } = await getLink(route, "v0");
    const before = await found();
    expect(["not known", []]).toContainEqual(before);
    {
      using _bound = openXdpSocket({ ifindex: index, queue: 0, netns: namespace.path });
      expect(await found()).toEqual(before === "not known" ? before : [{ index, queue: 0 }]);
    }
    expect(await found()).toEqual(before);
  });
});
