// SPDX-License-Identifier: Apache-2.0
import { zstdCompressSync } from "node:zlib";
import { describe, expect, it } from "@jest/globals";
import { extractVmlinux } from "./vmlinux.ts";

/** A bzImage as boot.rst describes it: boot sector, setup sectors, then code and payload. */
function bzImage(payload: Buffer, change: { setupSects?: number; version?: number } = {}): Buffer {
  const { setupSects = 7, version = 0x020f } = change;
  const codeBytes = 100;
  const image = Buffer.alloc(((setupSects || 4) + 1) * 512 + codeBytes, 0xcc);
  image.writeUInt8(setupSects, 0x1f1);
  image.write("HdrS", 0x202, "latin1");
  image.writeUInt16LE(version, 0x206);
  image.writeUInt32LE(codeBytes, 0x248);
  image.writeUInt32LE(payload.length + 4, 0x24c);
  const unpackedBytes = Buffer.alloc(4);
  return Buffer.concat([image, payload, unpackedBytes, Buffer.alloc(4096)]);
}

const elf = Buffer.concat([Buffer.from("\x7fELF"), Buffer.alloc(5000, 0x90)]);

describe("extractVmlinux", () => {
  it.each([7, 0])("finds the ELF kernel behind %i setup sectors, where 0 means 4", (setupSects) => {
    expect(extractVmlinux(bzImage(zstdCompressSync(elf), { setupSects })).equals(elf)).toBe(true);
  });

  it.each([
    { why: "no bzImage", image: Buffer.alloc(8192) },
    { why: "too short to be one", image: Buffer.from("HdrS") },
    {
      why: "of a boot protocol that says nothing of a payload",
      image: bzImage(zstdCompressSync(elf), { version: 0x0207 }),
    },
    { why: "not packed with zstd", image: bzImage(elf) },
    { why: "no ELF file inside", image: bzImage(zstdCompressSync(Buffer.alloc(5000))) },
  ])("refuses what is $why", ({ image }) => {
    expect(() => extractVmlinux(image)).toThrow(expect.objectContaining({ code: "build-failed" }));
  });
});
