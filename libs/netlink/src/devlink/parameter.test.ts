// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import fc from "fast-check";
import { protocols } from "../libc.ts";
import { NetlinkError } from "../netlink-error.ts";
import { NetlinkSocket } from "../netlink-socket.ts";
import { ack, createFakeKernel, reply } from "../testing/fake-kernel.ts";
import { bytes, find, nested, parseAttributes, readText, text } from "../wire/attributes.ts";
import { getFlagParameter, getTextParameter, reloadInstance, setFlagParameter, setTextParameter } from "./devlink.ts";

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

describe("flags of drivers", () => {
  const sf = { bus: "auxiliary", device: "mlx5_core.sf.4" };
  const flag = (isSet: boolean, mode = 1): Buffer =>
    nested(85, [...(isSet ? [bytes(86, Buffer.alloc(0))] : []), bytes(87, Buffer.of(mode))]);

  it.each([
    { what: "set", attributes: [parameter(6, flag(false, 2), flag(true))], value: true },
    { what: "not set", attributes: [parameter(6, flag(true, 2), flag(false))], value: false },
    { what: "of another kind", attributes: [parameter(6, flag(true, 0))], value: undefined },
    { what: "a text", attributes: [parameter(5, entry(1, "x"))], value: undefined },
    { what: "missing", attributes: [], value: undefined },
  ])("are read: $what", async ({ attributes, value }) => {
    const { family } = open(attributes);
    await expect(getFlagParameter(family, sf, "enable_eth")).resolves.toBe(value);
  });

  it("are set for the next reload, and the instance is reloaded", async () => {
    const { kernel, family } = open([]);
    await setFlagParameter(family, sf, { name: "enable_eth", value: true });
    await setFlagParameter(family, sf, { name: "enable_eth", value: false });
    await reloadInstance(family, sf);
    const sent = kernel.requests.map(({ payload }) => ({
      command: payload[0],
      of: parseAttributes(payload.subarray(4)),
    }));
    expect(sent.map(({ command }) => command)).toEqual([39, 39, 37]);
    expect(sent.map(({ of }) => readText(find(of, 2) ?? Buffer.alloc(0)))).toEqual(Array(3).fill("mlx5_core.sf.4"));
    expect(sent.map(({ of }) => [83, 87].map((type) => find(of, type)?.[0]))).toEqual([
      [6, 1],
      [6, 1],
      [undefined, undefined],
    ]);
    expect(sent.map(({ of }) => find(of, 86)?.length)).toEqual([0, undefined, undefined]);
  });
});
