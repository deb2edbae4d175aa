// SPDX-License-Identifier: Apache-2.0
/**
 * extractVmlinux returns the ELF kernel of a bzImage. QEMU starts it by PVH, without a BIOS and without the decompressor,
 * which saves seconds of emulation. The setup header says where the kernel begins (Linux, Documentation/arch/x86/boot.rst).
 */
import { zstdDecompressSync } from "node:zlib";
import { VmLabError } from "../vm-lab-error.ts";

const sectorBytes = 512;
/** Fields of the setup header, as offsets in the file. */
const header = { setupSects: 0x1f1, magic: 0x202, version: 0x206, payloadOffset: 0x248, payloadLength: 0x24c };
/** The first protocol version with the two payload fields. */
const protocolWithPayload = 0x0208;

/** Throws VmLabError `build-failed` for what is no bzImage or not packed with zstd, as Debian's 6.12 is. */
export function extractVmlinux(bzImage: Buffer): Buffer {
  if (bzImage.length < 0x1000 || bzImage.toString("latin1", header.magic, header.magic + 4) !== "HdrS") {
    throw new VmLabError("build-failed", "the kernel is no bzImage: its setup header lacks HdrS");
  }
  const version = bzImage.readUInt16LE(header.version);
  if (version < protocolWithPayload) {
    throw new VmLabError(
      "build-failed",
      `the kernel's boot protocol ${version.toString(16)} does not say where its payload is`,
    );
  }
  // 0 stands for 4 (boot.rst); the boot sector itself comes before the setup sectors.
  const setupSectors = bzImage.readUInt8(header.setupSects) || 4;
  const start = (setupSectors + 1) * sectorBytes + bzImage.readUInt32LE(header.payloadOffset);
  // The build appends the unpacked size to the zstd stream, in 4 bytes.
  const packed = bzImage.subarray(start, start + bzImage.readUInt32LE(header.payloadLength) - 4);
  const vmlinux = unpack(packed);
  if (vmlinux.toString("latin1", 0, 4) !== "\x7fELF") {
    throw new VmLabError("build-failed", "the kernel's payload is no ELF file");
  }
  return vmlinux;
}

function unpack(packed: Buffer): Buffer {
  try {
    return zstdDecompressSync(packed);
  } catch (cause) {
    throw new VmLabError("build-failed", "the kernel's payload is not packed with zstd", { cause });
  }
}
