// SPDX-License-Identifier: Apache-2.0
/**
 * loadForeignProgram loads an XDP program that is not Switchyard's: it passes all packets.
 * Usage: `using program = loadForeignProgram(); await program.attachTo(socket, "ens1f0");`
 */
import { loadBpfSystem } from "../bpf/native-bpf-system.ts";
import { loadProgram } from "../bpf/xdp-program.ts";
import type { NetlinkSocket } from "../netlink-socket.ts";
import { attachXdp } from "../rtnetlink/xdp.ts";

export interface ForeignProgram extends Disposable {
  /** Attaches the program in native mode. It stays attached after the disposal. */
  attachTo(socket: NetlinkSocket, name: string): Promise<void>;
}

/** r0 = XDP_PASS; exit */
const instructions = Buffer.from("b7000000020000009500000000000000", "hex");

export function loadForeignProgram(name = "foreign"): ForeignProgram {
  const system = loadBpfSystem();
  const fd = loadProgram(system, { instructions, name });
  return {
    attachTo: (socket, device) => attachXdp(socket, device, { program: { fd, id: 0 }, mode: "native" }),
    [Symbol.dispose]: () => void system.close(fd),
  };
}
