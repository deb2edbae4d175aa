// SPDX-License-Identifier: Apache-2.0
/**
 * loadForeignXdpProgram loads an XDP program that passes all packets to the network stack, or to the sockets of a map, under the
 * name of somebody else.
 * Usage: `using program = loadForeignXdpProgram("xdp_dispatcher")`.
 */
import { loadBpfSystem } from "../bpf/native-bpf-system.ts";
import { encodeRedirectProgram } from "../bpf/redirect-program.ts";
import type { XskMap } from "../bpf/xsk-map.ts";
import { loadProgram, type XdpProgram } from "../bpf/xdp-program.ts";

export function loadForeignXdpProgram(name: string, map?: XskMap): Pick<XdpProgram, "fd" | "id"> & Disposable {
  const system = loadBpfSystem();
  const pass = Buffer.from("b7000000020000009500000000000000", "hex"); // r0 = XDP_PASS; exit
  const instructions = map === undefined ? pass : encodeRedirectProgram(map.fd);
  const fd = loadProgram(system, { instructions, name });
  return { fd, id: 0, [Symbol.dispose]: () => void system.close(fd) };
}
