// SPDX-License-Identifier: Apache-2.0
/**
 * Attaches an XDP program of somebody else, "xdp_dispatcher", to a network interface. It stays there after the end of this process.
 * Usage: `node e2e/afxdp/attach-foreign-program.ts NAME`.
 */
import { attachXdp, NetlinkSocket, protocols } from "@switchyard/netlink";
import { loadForeignXdpProgram } from "@switchyard/netlink/testing";

const [name = ""] = process.argv.slice(2);
await using socket = new NetlinkSocket({ protocol: protocols.route });
using program = loadForeignXdpProgram("xdp_dispatcher");
await attachXdp(socket, name, { program, mode: "native" });
