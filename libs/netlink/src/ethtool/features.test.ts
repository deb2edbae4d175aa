// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import fc from "fast-check";
import { protocols } from "../libc.ts";
import { NetlinkError } from "../netlink-error.ts";
import { NetlinkSocket } from "../netlink-socket.ts";
import { ack, createFakeKernel, reply } from "../testing/fake-kernel.ts";
import { bytes, findNested, nested, parseAttributes, readText, text, u32 } from "../wire/attributes.ts";
import { getFeatures, setFeature } from "./ethtool.ts";

const flag = (type: number): Buffer => bytes(type, Buffer.alloc(0));
const bit = (name: string, isSet: boolean): Buffer =>
  nested(1, [u32(1, 7), text(2, name), ...(isSet ? [flag(3)] : [])]);
/** A bitset as the kernel sends it, with its size: all bits listed with a mask, only those that are set without one. */
const withMask = (type: number, bits: Record<string, boolean>): Buffer =>
  nested(type, [u32(2, 64), nested(3, Object.entries(bits).map(([name, isSet]) => bit(name, isSet)))]); // prettier-ignore
const withoutMask = (type: number, names: readonly string[]): Buffer =>
  nested(type, [flag(1), u32(2, 64), nested(3, names.map((name) => bit(name, false)))]); // prettier-ignore

/** A kernel whose answers to ethtool requests have these attributes; `asked` collects the requests' attributes. */
function open(attributes: readonly Buffer[]) {
  const kernel = createFakeKernel((request) => [
    reply(request, request.type, Buffer.concat([Buffer.of(11, 1, 0, 0), ...attributes])),
    ack(request),
  ]);
  const socket = new NetlinkSocket({ protocol: protocols.generic, libc: kernel });
  return { kernel, family: { socket, id: 0x15 } };
}

describe("getFeatures", () => {
  it("reads bitsets with and without a mask", async () => {
    const { family } = open([
      withMask(2, { "hw-tc-offload": true, "netns-local": false }),
      withoutMask(4, ["rx-checksum"]),
    ]);
    await expect(getFeatures(family, "eth0")).resolves.toEqual({
      active: new Set(["rx-checksum"]),
      changeable: new Set(["hw-tc-offload"]),
    });
  });

  it("takes any bytes: features, or NetlinkError", async () => {
    const junk = fc.array(fc.tuple(fc.nat(5), fc.uint8Array({ maxLength: 40 })));
    await fc.assert(
      fc.asyncProperty(junk, async (attributes) => {
        const { family } = open(attributes.map(([type, value]) => bytes(type, Buffer.from(value))));
        const result: unknown = await getFeatures(family, "eth0").catch((error: unknown) => error);
        expect(result instanceof NetlinkError || (result as { active: unknown }).active instanceof Set).toBe(true);
      }),
    );
  });
});

describe("setFeature", () => {
  it.each([
    { on: true, active: ["hw-tc-offload"], isDone: true },
    { on: true, active: [], isDone: false },
    { on: false, active: [], isDone: true },
  ])("turns a feature on: $on, and reads what the driver made of it: $active", async ({ on, active, isDone }) => {
    const { kernel, family } = open([withoutMask(4, active)]);
    await expect(setFeature(family, "eth0", { name: "hw-tc-offload", on })).resolves.toBe(isDone);
    const [request] = kernel.requests;
    const wanted = findNested(parseAttributes(request?.payload.subarray(4) ?? Buffer.alloc(0)), 3);
    const [entry] = findNested(wanted, 3).map(({ value }) => parseAttributes(value));
    expect(entry?.map(({ type, value }) => [type, readText(value)])).toEqual([[2, "hw-tc-offload"], ...(on ? [[3, ""]] : [])]); // prettier-ignore
  });
});
