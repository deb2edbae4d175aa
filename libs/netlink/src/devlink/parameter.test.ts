// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import fc from "fast-check";
import { protocols } from "../libc.ts";
import { NetlinkError } from "../netlink-error.ts";
import { NetlinkSocket } from "../netlink-socket.ts";
import { ack, createFakeKernel, reply } from "../testing/fake-kernel.ts";
import { bytes, find, nested, parseAttributes, readText, text } from "../wire/attributes.ts";
import { getTextParameter, setTextParameter } from "./devlink.ts";

const pf = { bus: "pci", device: "0000:06:00.0" };
const name = "flow_steering_mode";

/** An entry of the list of values: 0 is the value at run time, 2 the permanent one. */
const entry = (configurationMode: number, value: string): Buffer =>
  nested(85, [text(86, value), bytes(87, Buffer.of(configurationMode))]);
const parameter = (type: number, ...entries: readonly Buffer[]): Buffer =>
  nested(80, [text(81, name), bytes(83, Buffer.of(type)), nested(84, entries)]);

function open(attributes: readonly Buffer[]) {
  const kernel = createFakeKernel((request) => [
    reply(request, request.type, Buffer.concat([Buffer.of(38, 1, 0, 0), ...attributes])),
    ack(request),
  ]);
  const socket = new NetlinkSocket({ protocol: protocols.generic, libc: kernel });
  return { kernel, family: { socket, id: 0x15 } };
}

describe("getTextParameter", () => {
  it("returns the value at run time", async () => {
    const { family } = open([parameter(5, entry(2, "dmfs"), entry(0, "smfs"))]);
    await expect(getTextParameter(family, pf, name)).resolves.toBe("smfs");
  });

  it("returns undefined for a parameter that has only a permanent value", async () => {
    const { family } = open([parameter(5, entry(2, "dmfs"))]);
    await expect(getTextParameter(family, pf, name)).resolves.toBeUndefined();
  });

  it("rejects for a parameter of another type", async () => {
    const { family } = open([parameter(1, entry(0, "x"))]);
    await expect(getTextParameter(family, pf, name)).rejects.toMatchObject({ code: "malformed" });
  });

  it("takes any bytes: a value, or NetlinkError", async () => {
    const junk = fc.array(fc.tuple(fc.integer({ min: 78, max: 88 }), fc.uint8Array({ maxLength: 40 })));
    await fc.assert(
      fc.asyncProperty(junk, async (attributes) => {
        const { family } = open(attributes.map(([type, value]) => bytes(type, Buffer.from(value))));
        const result: unknown = await getTextParameter(family, pf, name).catch((error: unknown) => error);
        expect(result === undefined || typeof result === "string" || result instanceof NetlinkError).toBe(true);
      }),
    );
  });
});

describe("setTextParameter", () => {
  it("sends the name, the type, the value, and that it has effect at once", async () => {
    const { kernel, family } = open([]);
    await setTextParameter(family, pf, { name, value: "smfs" });
    const [request] = kernel.requests;
    const payload = request?.payload ?? Buffer.alloc(4);
    const sent = parseAttributes(payload.subarray(4));
    expect(payload[0]).toBe(39);
    const texts = [1, 2, 81, 86].map((type) => readText(find(sent, type) ?? Buffer.alloc(0)));
    expect(texts).toEqual(["pci", "0000:06:00.0", name, "smfs"]);
    expect([83, 87].map((type) => find(sent, type)?.[0])).toEqual([5, 0]);
  });
});
