// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import fc from "fast-check";
import { NetlinkError } from "../netlink-error.ts";
import { ack, done } from "../testing/fake-kernel.ts";
import { encodeMessage, parseMessages, parseAck, type Message } from "./message.ts";

const u16s = fc.integer({ min: 0, max: 0xffff });
const messages: fc.Arbitrary<Message> = fc.record({
  type: u16s,
  flags: u16s,
  sequence: fc.integer({ min: 0, max: 0xffff_ffff }),
  payload: fc.uint8Array({ maxLength: 100 }).map((payload) => Buffer.from(payload)),
});

describe("parseMessages", () => {
  it("parses all messages of a datagram", () => {
    fc.assert(
      fc.property(fc.array(messages), (sent) => {
        const datagram = Buffer.concat(sent.map((message) => encodeMessage(message, message.payload)));
        expect(parseMessages(datagram)).toEqual(sent);
      }),
    );
  });

  it("parses any bytes or throws NetlinkError malformed, also parseAck", () => {
    const ackTypes = fc.constantFrom(2, 3);
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 64 }), ackTypes, u16s, (garbage, type, flags) => {
        const payload = Buffer.from(garbage);
        for (const read of [() => parseMessages(payload), () => parseAck({ type, flags, sequence: 1, payload })]) {
          try {
            read();
          } catch (error) {
            expect(error).toBeInstanceOf(NetlinkError);
          }
        }
      }),
    );
  });

  it("throws for a message that is longer than its datagram", () => {
    const message = encodeMessage({ type: 16, flags: 0, sequence: 1 }, Buffer.alloc(8));
    expect(() => parseMessages(message.subarray(0, 20))).toThrow(expect.objectContaining({ code: "malformed" }));
  });
});

describe("parseAck", () => {
  const request: Message = { type: 19, flags: 5, sequence: 7, payload: Buffer.alloc(40) };

  it.each([
    { does: "an ack", datagram: ack(request), expected: { errno: 0 } },
    { does: "the end of a dump", datagram: done(request), expected: { errno: 0 } },
    {
      does: "the end of a list without a result",
      datagram: encodeMessage({ type: 3, flags: 2, sequence: 7 }, Buffer.alloc(0)),
      expected: { errno: 0 },
    },
    { does: "an error", datagram: ack(request, { code: "EBUSY" }), expected: { errno: 16 } },
    {
      does: "an error with a message",
      datagram: ack(request, { code: "EINVAL", words: "mtu greater than device maximum" }),
      expected: { errno: 22, words: "mtu greater than device maximum" },
    },
    {
      // Captured from Linux 6.18, mtu 100000 on a veth, without NETLINK_CAP_ACK: the whole request comes before the words.
      does: "an error that repeats the request",
      datagram: Buffer.from(
        "6800000002000002010000002f620000eaffffff30000000130005000100000000000000000000000000000000000000" +
          "00000000070003007630000008000400a0860100240001006d74752067726561746572207468616e20646576696365206d6178696d756d00",
        "hex",
      ),
      expected: { errno: 22, words: "mtu greater than device maximum" },
    },
  ])("reads $does", ({ datagram, expected }) => {
    const [message] = parseMessages(datagram);
    expect(message && parseAck(message)).toEqual(expected);
  });
});
