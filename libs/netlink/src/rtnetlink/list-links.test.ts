// SPDX-License-Identifier: Apache-2.0
import { expect, it } from "@jest/globals";
import { protocols } from "../libc.ts";
import { NetlinkSocket } from "../netlink-socket.ts";
import { createFakeKernel, done, reply } from "../testing/fake-kernel.ts";
import { bytes, nested, text } from "../wire/attributes.ts";
import { encodeLinkHeader, linkAttributes, linkMessages } from "./link-message.ts";
import { vfAttributes } from "./vf-info.ts";
import { listLinks } from "./list-links.ts";

it("lists a PF with 256 VFs, one message of 50 KiB", async () => {
  const vfs = Array.from({ length: 256 }, (_, vfId) => {
    const mac = Buffer.alloc(36);
    mac.writeUInt32LE(vfId, 0);
    const others = bytes(100, Buffer.alloc(148)); // the size of the details of a VF of igb
    return nested(vfAttributes.info, [bytes(vfAttributes.mac, mac), others]);
  });
  const list = nested(linkAttributes.vfInfoList, vfs);
  const link = Buffer.concat([encodeLinkHeader(), text(linkAttributes.name, "pf0"), list]);
  expect(link.length).toBeGreaterThan(50_000);

  const kernel = createFakeKernel((asked) => [reply(asked, linkMessages.newLink, link), done(asked)]);
  await using socket = new NetlinkSocket({ protocol: protocols.route, libc: kernel });
  const [pf] = await listLinks(socket);
  expect(pf?.vfs.map(({ vfId }) => vfId)).toEqual(Array.from({ length: 256 }, (_, vfId) => vfId));
});
