// SPDX-License-Identifier: Apache-2.0
/**
 * The XDP program of AF_XDP devices. For each received packet it runs
 *
 *     return bpf_redirect_map(&xsks_map, ctx->rx_queue_index, XDP_PASS);
 *
 * The kernel then gives the packet to the socket that the map has for the receive queue; without one, the network stack
 * receives the packet (the last argument, since Linux 5.3).
 */

/** An instruction: u8 opcode, u4 destination and u4 source register, s16 offset, s32 constant (struct bpf_insn). */
interface Instruction {
  readonly opcode: number;
  readonly to?: number;
  readonly from?: number;
  readonly offset?: number;
  readonly constant?: number;
}

// linux/bpf_common.h and linux/bpf.h
const opcodes = { load32: 0x61, loadConstant64: 0x18, setConstant: 0xb7, call: 0x85, exit: 0x95 };
const isMap = 1; // BPF_PSEUDO_MAP_FD: the constant is the descriptor of a map
const redirectMap = 51; // BPF_FUNC_redirect_map
const xdpPass = 2;
const queueOffset = 16; // rx_queue_index in struct xdp_md
const instructionBytes = 8;

/** Offset of the instruction that refers to the map, in bytes: it is the second one. */
export const redirectMapOffset = instructionBytes;

/** Returns the instructions. `mapFd` is the descriptor of an XSK map. */
export function encodeRedirectProgram(mapFd: number): Buffer {
  return Buffer.concat(redirectProgram(mapFd).map(encode));
}

// Register 1 is the context at the start. Registers 1 to 3 are the arguments of a call, register 0 is the result.
function redirectProgram(mapFd: number): readonly Instruction[] {
  return [
    { opcode: opcodes.load32, to: 2, from: 1, offset: queueOffset },
    { opcode: opcodes.loadConstant64, to: 1, from: isMap, constant: mapFd },
    { opcode: 0 }, // the upper half of the constant
    { opcode: opcodes.setConstant, to: 3, constant: xdpPass },
    { opcode: opcodes.call, constant: redirectMap },
    { opcode: opcodes.exit },
  ];
}

function encode({ opcode, to = 0, from = 0, offset = 0, constant = 0 }: Instruction): Buffer {
  const encoded = Buffer.alloc(instructionBytes);
  encoded.writeUInt8(opcode, 0);
  encoded.writeUInt8((from << 4) | to, 1);
  encoded.writeInt16LE(offset, 2);
  encoded.writeInt32LE(constant, 4);
  return encoded;
}
