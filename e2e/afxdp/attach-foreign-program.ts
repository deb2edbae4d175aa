// SPDX-License-Identifier: Apache-2.0
/**
 * Attaches an XDP program of somebody else, "xdp_dispatcher" by default, to a network interface. It stays there after the end of this
 * process.
 * Usage: `node e2e/afxdp/attach-foreign-program.ts NAME [PROGRAM]`.
 */
import { attachXdp, NetlinkSocket, protocols } from "@switchyard/netlink";
import { loadForeignXdpProgram } from "@switchyard/netlink/testing";

const [name = "", programName = "xdp_dispatcher"] = process.argv.slice(2);
await using socket = new NetlinkSocket({ protocol: protocols.route });
using program = loadForeignXdpProgram(programName);
await attachXdp(socket, name, { program, mode: "native" });
