// SPDX-License-Identifier: Apache-2.0
import { expect, it } from "@jest/globals";
import fc from "fast-check";
import { protocols } from "../libc.ts";
import { NetlinkError } from "../netlink-error.ts";
import { NetlinkSocket } from "../netlink-socket.ts";
import { createFakeKernel, done, reply } from "../testing/fake-kernel.ts";
import { bytes, find, nested, parseAttributes, readText, text } from "../wire/attributes.ts";
import { listHealthReporters } from "./health.ts";

const pf = { bus: "pci", device: "0000:06:00.0" };
const handle = [text(1, pf.bus), text(2, pf.device)];
const reporter = (name: string, state: number): Buffer => nested(114, [text(115, name), bytes(116, Buffer.of(state))]);

/** Answers with one message for each list of attributes. */
function open(...messages: readonly (readonly Buffer[])[]) {
  const kernel = createFakeKernel((request) => [
    ...messages.map((each) => reply(request, 0x15, Buffer.concat([Buffer.of(52, 1, 0, 0), ...each]))),
    done(request),
  ]);
  const socket = new NetlinkSocket({ protocol: protocols.generic, libc: kernel });
  return { kernel, family: { socket, id: 0x15 } };
}

it("returns the reporters of the instance, also if the kernel sends those of all", async () => {
  const other = [text(1, "pci"), text(2, "0000:06:00.1")];
  const { kernel, family } = open(
    [...handle, reporter("fw", 0)],
    [...other, reporter("fw", 1)],
    [...handle, reporter("fw_fatal", 1)],
  );
  await expect(listHealthReporters(family, pf)).resolves.toEqual([
    { name: "fw", state: "healthy" },
    { name: "fw_fatal", state: "error" },
  ]);
  const payload = kernel.requests[0]?.payload ?? Buffer.alloc(4);
  expect([payload[0], readText(find(parseAttributes(payload.subarray(4)), 2) ?? Buffer.alloc(0))]).toEqual([
    52,
    "0000:06:00.0",
  ]);
});

it("takes any bytes: a list, or NetlinkError", async () => {
  const junk = fc.array(fc.tuple(fc.integer({ min: 112, max: 118 }), fc.uint8Array({ maxLength: 40 })));
  await fc.assert(
    fc.asyncProperty(junk, async (attributes) => {
      const { family } = open([...handle, ...attributes.map(([type, value]) => bytes(type, Buffer.from(value)))]);
      const result: unknown = await listHealthReporters(family, pf).catch((error: unknown) => error);
      expect(Array.isArray(result) || result instanceof NetlinkError).toBe(true);
    }),
  );
});
