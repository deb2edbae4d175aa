// SPDX-License-Identifier: Apache-2.0
/** The expected bytes are a request of `rdma system show` (iproute2 6.1), captured on a socket of another protocol. */
import { describe, expect, it } from "@jest/globals";
import { protocols } from "../libc.ts";
import { NetlinkSocket } from "../netlink-socket.ts";
import { ack, createFakeKernel, reply, type Respond } from "../testing/fake-kernel.ts";
import { bytes } from "../wire/attributes.ts";
import { encodeMessage } from "../wire/message.ts";
import { getRdmaMode } from "./rdma.ts";

// The sequence number (bytes 8 to 11), a timestamp, is set to 0.
const golden = "10000000061405000000000000000000";

/** RDMA_NLDEV_SYS_ATTR_NETNS_MODE followed by the attribute that newer kernels add (COPY_ON_FORK). */
function system(...mode: readonly number[]): Respond {
  return (asked) => {
    const attributes = Buffer.concat([bytes(66, Buffer.of(...mode)), bytes(93, Buffer.of(1))]);
    return [reply(asked, asked.type, attributes), ack(asked)];
  };
}

function open(respond: Respond) {
  const kernel = createFakeKernel(respond);
  return { kernel, socket: new NetlinkSocket({ protocol: protocols.rdma, libc: kernel }) };
}

describe("getRdmaMode", () => {
  it.each([
    { value: 1, mode: "shared" },
    { value: 0, mode: "exclusive" },
  ])("reads $mode with the same request as iproute2", async ({ value, mode }) => {
    const { kernel, socket } = open(system(value));
    await expect(getRdmaMode(socket)).resolves.toBe(mode);
    const sent = kernel.requests.map((each) => encodeMessage({ ...each, sequence: 0 }, each.payload).toString("hex"));
    expect(sent).toEqual([golden]);
    await socket[Symbol.asyncDispose]();
  });

  it("rejects with EINVAL on a kernel without modes", async () => {
    const { socket } = open((asked) => [ack(asked, { code: "EINVAL" })]);
    await expect(getRdmaMode(socket)).rejects.toMatchObject({ code: "EINVAL", tried: "read RDMA mode" });
    await socket[Symbol.asyncDispose]();
  });

  it.each<{ what: string; respond: Respond }>([
    { what: "a mode that it does not know", respond: system(7) },
    { what: "an empty mode", respond: system() },
    { what: "an answer without a mode", respond: (asked) => [reply(asked, asked.type, Buffer.alloc(0)), ack(asked)] },
    { what: "no answer", respond: (asked) => [ack(asked)] },
  ])("rejects with malformed for $what", async ({ respond }) => {
    const { socket } = open(respond);
    await expect(getRdmaMode(socket)).rejects.toMatchObject({ code: "malformed" });
    await socket[Symbol.asyncDispose]();
  });
});
