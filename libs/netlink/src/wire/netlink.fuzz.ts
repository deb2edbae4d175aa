// SPDX-License-Identifier: Apache-2.0
/** What the kernel and other processes send to netlink sockets, for every function that reads an answer or an event. */
import type { FuzzTarget } from "@switchyard/testing/fuzz";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { getEswitchMode, getFlagParameter, getTextParameter, listResources } from "../devlink/devlink.ts";
import { listDevlinkPorts } from "../devlink/port.ts";
import { getChannels, getFeatures } from "../ethtool/ethtool.ts";
import { watchLinks, watchUevents } from "../events/kernel-events.ts";
import { resolveFamily, type GenericFamily } from "../generic-netlink.ts";
import { protocols } from "../libc.ts";
import { listXdpFeatures } from "../netdev/xdp-features.ts";
import { NetlinkError } from "../netlink-error.ts";
import { NetlinkSocket } from "../netlink-socket.ts";
import { getRdmaMode } from "../rdma/rdma.ts";
import { listBridgePorts } from "../rtnetlink/bridge-port.ts";
import { listBridges } from "../rtnetlink/bridge.ts";
import { encodeLinkHeader } from "../rtnetlink/link-message.ts";
import { getLink, listLinks } from "../rtnetlink/list-links.ts";
import { readNeighbour } from "../rtnetlink/neighbour.ts";
import { connectedNetworks, defaultGateways, defaultRouteLinks, routeLinks } from "../rtnetlink/route.ts";
import { readXdp } from "../rtnetlink/xdp.ts";
import { listXdpSockets } from "../sock-diag/xdp-sockets.ts";
import { ack, createFakeKernel, done, reply } from "../testing/fake-kernel.ts";
import { listVdpaDevices, listVdpaManagementDevices } from "../vdpa/vdpa.ts";
import { nested, text, u32 } from "./attributes.ts";
import { encodeMessage, messageFlags, type Message } from "./message.ts";

const handle = { bus: "pci", device: "0000:06:00.0" };
const generic = (socket: NetlinkSocket): GenericFamily => ({ socket, id: 30 });

/** The first byte of an input is an index of this list. The numbers in the answers are RTM_*, or the id of the family. */
const readers: readonly ((socket: NetlinkSocket) => Promise<unknown>)[] = [
  listLinks,
  (socket) => getLink(socket, "eth0"),
  listBridges,
  (socket) => listBridgePorts(socket, 7),
  defaultRouteLinks,
  defaultGateways,
  connectedNetworks,
  (socket) => routeLinks(socket, "192.0.2.1"),
  (socket) => routeLinks(socket, "2001:db8::1"),
  (socket) => readNeighbour(socket, { link: 2, address: "192.0.2.1" }),
  (socket) => readXdp(socket, "eth0"),
  listXdpSockets,
  getRdmaMode,
  (socket) => resolveFamily(socket, "devlink"),
  (socket) => getEswitchMode(generic(socket), handle),
  (socket) => getTextParameter(generic(socket), handle, "flow_steering_mode"),
  (socket) => getFlagParameter(generic(socket), handle, "esw_multiport"),
  (socket) => listResources(generic(socket), handle),
  (socket) => listDevlinkPorts(generic(socket)),
  (socket) => getChannels(generic(socket), "eth0"),
  (socket) => getFeatures(generic(socket), "eth0"),
  (socket) => listXdpFeatures(generic(socket)),
  (socket) => listVdpaManagementDevices(generic(socket)),
  (socket) => listVdpaDevices(generic(socket)),
];

/** After the first byte: u16 type, u16 length and payload of each message of the answer. */
function answersIn(input: Buffer, request: Message): readonly Buffer[] {
  const answers: Buffer[] = [];
  for (let at = 0; at + 4 <= input.length;) {
    const length = input.readUInt16LE(at + 2);
    answers.push(reply(request, input.readUInt16LE(at), input.subarray(at + 4, at + 4 + length)));
    at += 4 + length;
  }
  return answers;
}

async function answerReader(input: Buffer): Promise<void> {
  const kernel = createFakeKernel((request) => [
    ...answersIn(input.subarray(1), request),
    (request.flags & messageFlags.dump) === messageFlags.dump ? done(request) : ack(request),
  ]);
  await read(readers[(input[0] ?? 0) % readers.length] ?? listLinks, new NetlinkSocket({ protocol: 0, libc: kernel }));
}

/** The bytes as they are, with the sequence of the request, so that acks are found. */
async function answerRaw(input: Buffer): Promise<void> {
  const kernel = createFakeKernel((request) => {
    const datagram = Buffer.from(input.subarray(1));
    if (datagram.length >= 12) datagram.writeUInt32LE(request.sequence, 8);
    return [datagram, ack(request), done(request)];
  });
  await read(readers[(input[0] ?? 0) % readers.length] ?? listLinks, new NetlinkSocket({ protocol: 0, libc: kernel }));
}

async function read(reader: (socket: NetlinkSocket) => Promise<unknown>, socket: NetlinkSocket): Promise<void> {
  try {
    await reader(socket);
  } catch (error) {
    if (!(error instanceof NetlinkError)) throw error;
  } finally {
    await socket[Symbol.asyncDispose]();
  }
}

function sendEvents(input: Buffer): void {
  const kernel = createFakeKernel();
  const end = new AbortController();
  const sink = { event: (event: object) => void JSON.stringify(event), lost: () => undefined, failed: () => undefined };
  watchLinks(sink, end.signal, { libc: kernel });
  watchUevents(
    { ...sink, event: ({ variable, ...event }) => void JSON.stringify([event, variable("PCI_SLOT_NAME")]) },
    end.signal,
    { libc: kernel },
  );
  kernel.emit(protocols.route, input);
  kernel.emit(protocols.kobjectUevent, input);
  end.abort();
}

const [, ...lines] = readFileSync(
  join(process.cwd(), "libs/netlink/src/rtnetlink/testdata/igb-pf-link.hex"),
  "utf8",
).split("\n");
const link = Buffer.from(lines.join(""), "hex");

/** An answer of one message to the reader with this index. */
function answer(reader: number, type: number, payload: Buffer): Buffer {
  const header = Buffer.alloc(5);
  header[0] = reader;
  header.writeUInt16LE(type, 1);
  header.writeUInt16LE(payload.length, 3);
  return Buffer.concat([header, payload]);
}

const genericAnswer = (...attributes: readonly Buffer[]): Buffer => Buffer.concat([Buffer.alloc(4), ...attributes]);
const device = [text(1, "pci"), text(2, "0000:06:00.0")];
const small = Buffer.concat([
  encodeLinkHeader(),
  text(3, "br0"),
  nested(18, [text(1, "bridge"), nested(2, [u32(1, 5)])]),
]);

export const targets: readonly FuzzTarget[] = [
  {
    name: "netlink-answers",
    seeds: [
      ...[0, 1, 2, 3, 10].flatMap((reader) => [answer(reader, 16, link), answer(reader, 16, small)]),
      ...[4, 5, 6, 7, 8].map((reader) =>
        answer(reader, 24, Buffer.concat([Buffer.alloc(12), u32(4, 2), u32(5, 1), u32(1, 9)])),
      ),
      answer(9, 28, Buffer.concat([Buffer.alloc(12, 2), u32(1, 9), text(2, "abcdef")])),
      answer(11, 20, Buffer.alloc(64, 1)),
      answer(12, 0x1406, Buffer.concat([Buffer.of(66, 0, 0, 0), u32(1, 1)])),
      ...Array.from({ length: 11 }, (_, nth) =>
        answer(13 + nth, 30, genericAnswer(...device, nested(3, [...device, u32(1, 2)]))),
      ),
    ],
    run: answerReader,
  },
  {
    name: "netlink-datagrams",
    seeds: [
      Buffer.concat([Buffer.of(0), encodeMessage({ type: 16, flags: 0, sequence: 1 }, small)]),
      Buffer.concat([
        Buffer.of(1),
        encodeMessage({ type: 2, flags: 0x300, sequence: 1 }, Buffer.concat([Buffer.alloc(20, 0xff), text(1, "no")])),
      ]),
    ],
    run: answerRaw,
  },
  {
    name: "netlink-events",
    seeds: [
      encodeMessage({ type: 16, flags: 0, sequence: 0 }, small),
      encodeMessage({ type: 17, flags: 0, sequence: 0 }, link),
      "add@/devices/pci\0ACTION=add\0DEVPATH=/devices/pci\0SUBSYSTEM=pci\0PCI_SLOT_NAME=0000:06:00.0\0",
    ],
    run: sendEvents,
  },
];
