// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import fc from "fast-check";
import { protocols } from "../libc.ts";
import { NetlinkError } from "../netlink-error.ts";
import { NetlinkSocket } from "../netlink-socket.ts";
import { ack, createFakeKernel, done, reply } from "../testing/fake-kernel.ts";
import { bytes, nested, text, u16, u32 } from "../wire/attributes.ts";
import { bridgePortSettings, listBridgePorts, setBridgePort } from "./bridge-port.ts";

/** struct ifinfomsg of interface 7. */
const header = Buffer.from("00000000070000000000000000000000", "hex");

function listing(payloads: readonly Buffer[]): NetlinkSocket {
  const kernel = createFakeKernel((request) => [
    ...payloads.map((payload) => reply(request, 16, payload)),
    done(request),
  ]);
  return new NetlinkSocket({ protocol: protocols.route, libc: kernel });
}

describe("the settings of bridge ports", () => {
  it("have the names that the CRD of policies allows", () => {
    expect([...bridgePortSettings].sort().join(" ")).toBe(
      "bpdu_guard broadcast_flood hairpin_mode isolated learning multicast_fast_leave multicast_flood multicast_router " +
        "multicast_to_unicast neigh_suppress path_cost priority proxyarp proxyarp_wifi root_block unicast_flood",
    );
  });

  it("are read, with numbers of one, two and four bytes", async () => {
    const data = [u16(2, 32), u32(3, 100_000), bytes(8, Buffer.of(1)), bytes(4, Buffer.of(0)), bytes(1, Buffer.of(3))];
    const linkInfo = nested(18, [text(4, "bridge"), nested(5, data)]);
    const port = Buffer.concat([
      header,
      text(3, "eth0"),
      u32(10, 5),
      text(56, "0000:01:00.0"),
      text(57, "pci"),
      linkInfo,
    ]);
    const other = Buffer.concat([header, text(3, "eth1"), u32(10, 6)]);
    await expect(listBridgePorts(listing([other, port]), 5)).resolves.toEqual([
      {
        index: 7,
        name: "eth0",
        parent: { bus: "pci", name: "0000:01:00.0" },
        settings: { priority: 32, path_cost: 100_000, learning: 1, hairpin_mode: 0 },
      },
    ]);
  });

  it("are written in one message", async () => {
    const kernel = createFakeKernel((request) => [ack(request)]);
    const socket = new NetlinkSocket({ protocol: protocols.route, libc: kernel });
    await setBridgePort(socket, "eth0", { isolated: 1, priority: 5 });
    expect(kernel.requests.map(({ payload }) => payload.subarray(16).toString("hex"))).toEqual([
      "090003006574683000000000" +
        "24001280" +
        "0b0004006272696467650000" +
        "14000580" +
        "0600020005000000" +
        "0500210001000000",
    ]);
  });

  it("take any bytes: ports, or NetlinkError", async () => {
    const junk = fc.array(fc.uint8Array({ maxLength: 80 }));
    await fc.assert(
      fc.asyncProperty(junk, async (payloads) => {
        const socket = listing(payloads.map((payload) => Buffer.concat([header, Buffer.from(payload)])));
        const result: unknown = await listBridgePorts(socket, 5).catch((error: unknown) => error);
        expect(result instanceof NetlinkError || Array.isArray(result)).toBe(true);
      }),
    );
  });
});
