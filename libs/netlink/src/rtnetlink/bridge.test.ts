// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import fc from "fast-check";
import { protocols } from "../libc.ts";
import { NetlinkError } from "../netlink-error.ts";
import { NetlinkSocket } from "../netlink-socket.ts";
import { ack, createFakeKernel, done, reply } from "../testing/fake-kernel.ts";
import { bytes, nested, text } from "../wire/attributes.ts";
import { createBridge, listBridges } from "./bridge.ts";
import { setVfGuids } from "../rdma/rdma.ts";

/** struct ifinfomsg of interface 7. */
const header = Buffer.from("00000000070000000000000000000000", "hex");

function listing(payloads: readonly Buffer[]): NetlinkSocket {
  const kernel = createFakeKernel((request) => [
    ...payloads.map((payload) => reply(request, 16, payload)),
    done(request),
  ]);
  return new NetlinkSocket({ protocol: protocols.route, libc: kernel });
}

describe("listBridges", () => {
  it("leaves out other interfaces, which old kernels list too", async () => {
    const data = nested(2, [bytes(7, Buffer.of(1)), bytes(8, Buffer.from("88a8", "hex"))]);
    const bridge = Buffer.concat([header, text(3, "br0"), text(20, "ours"), nested(18, [text(1, "bridge"), data])]);
    const veth = Buffer.concat([header, text(3, "v0"), nested(18, [text(1, "veth")])]);
    const device = Buffer.concat([header, text(3, "eth0")]);
    await expect(listBridges(listing([device, bridge, veth]))).resolves.toEqual([
      {
        index: 7,
        name: "br0",
        alias: "ours",
        group: 0,
        adminUp: false,
        vlanFiltering: true,
        vlanProtocol: "802.1ad",
      },
    ]);
  });

  it("takes any bytes: bridges, or NetlinkError", async () => {
    const junk = fc.array(fc.uint8Array({ maxLength: 80 }));
    await fc.assert(
      fc.asyncProperty(junk, async (payloads) => {
        const socket = listing(payloads.map((payload) => Buffer.concat([header, Buffer.from(payload)])));
        const result: unknown = await listBridges(socket).catch((error: unknown) => error);
        expect(result instanceof NetlinkError || Array.isArray(result)).toBe(true);
      }),
    );
  });
});

describe("requests", () => {
  async function sent(act: (socket: NetlinkSocket) => Promise<void>): Promise<readonly string[]> {
    const kernel = createFakeKernel((request) => [ack(request)]);
    await act(new NetlinkSocket({ protocol: protocols.route, libc: kernel }));
    return kernel.requests.map(({ flags, payload }) => `${flags.toString(16)} ${payload.subarray(16).toString("hex")}`);
  }

  it("create a bridge only if there is none", async () => {
    // NLM_F_REQUEST, NLM_F_ACK, NLM_F_EXCL and NLM_F_CREATE; IFLA_IFNAME "br0"; IFLA_LINKINFO with "bridge" and vlan_filtering.
    expect(await sent((socket) => createBridge(socket, { name: "br0", vlanFiltering: true }))).toEqual([
      "605 08000300627230001c0012800b00010062726964676500000c0002800500070001000000",
    ]);
  });

  it("give a VF both GUIDs, in the byte order of the machine", async () => {
    const guid = "00:11:22:33:44:55:66:77";
    const value = "03000000000000007766554433221100";
    expect(await sent((socket) => setVfGuids(socket, "ib0", { vfId: 3, guid }))).toEqual([
      `5 08000300696230001c0016801800018014000a00${value}`,
      `5 08000300696230001c0016801800018014000b00${value}`,
    ]);
  });
});
