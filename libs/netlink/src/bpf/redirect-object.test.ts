// SPDX-License-Identifier: Apache-2.0
/** e2e/afxdp/bpfman.test.ts loads the file with bpfman and with libbpf. */
import { describe, expect, it } from "@jest/globals";
import { missingForNamespaces } from "../testing/network-namespace.ts";
import { BpfObject } from "./bpf-object.ts";
import { callBpf, loadBpfSystem } from "./bpf-system.ts";
import { encodeRedirectObject } from "./redirect-object.ts";
import { encodeRedirectProgram } from "./redirect-program.ts";

const file = encodeRedirectObject("xsk_redirect");
const privileged = missingForNamespaces() === undefined ? it : it.skip;

/** Reads the sections as a loader does: by the table of headers, whose place the file's header has. */
function sectionsOf(elf: Buffer): ReadonlyMap<string, Buffer> {
  const table = Number(elf.readBigUInt64LE(40));
  const headers = Array.from({ length: elf.readUInt16LE(60) }, (_, at) => elf.subarray(table + 64 * at));
  const contentOf = (header: Buffer): Buffer => {
    const start = Number(header.readBigUInt64LE(24));
    return elf.subarray(start, start + Number(header.readBigUInt64LE(32)));
  };
  const names = contentOf(headers[elf.readUInt16LE(62)] ?? Buffer.alloc(64));
  const nameOf = (header: Buffer): string => {
    const start = header.readUInt32LE(0);
    return names.toString("utf8", start, names.indexOf(0, start));
  };
  return new Map(headers.map((header) => [nameOf(header), contentOf(header)]));
}

describe("encodeRedirectObject", () => {
  const sections = sectionsOf(file);

  it("has the program, its map, its license and its types in the sections that loaders look for", () => {
    expect([...sections.keys()]).toEqual(
      ["", "xdp", ".maps", "license", ".BTF", ".BTF.ext", ".symtab", ".relxdp", ".strtab"].map(String),
    );
    expect(sections.get("xdp")).toEqual(encodeRedirectProgram(0));
    expect(sections.get("license")?.toString()).toBe("Apache-2.0\0");
  });

  it("lets the loader put the map into the second instruction", () => {
    const relocation = sections.get(".relxdp");
    expect(relocation?.readBigUInt64LE(0)).toBe(8n);
    const symbol = sections.get(".symtab")?.subarray(24 * Number((relocation?.readBigUInt64LE(8) ?? 0n) >> 32n));
    const name = symbol?.readUInt32LE(0) ?? 0;
    expect(sections.get(".strtab")?.toString("utf8", name, name + 9)).toBe("xsks_map\0");
  });

  privileged("has types that the kernel accepts, also as those of the program's function", () => {
    const system = loadBpfSystem();
    const types = sections.get(".BTF") ?? Buffer.alloc(0);
    const attributes = Buffer.alloc(32); // u64 types, u64 log, u32 bytes, u32 bytes of the log, u32 level
    attributes.writeUInt32LE(types.length, 16);
    const call = { tried: "load BTF", command: 18, attributes, pointers: [{ offset: 0, bytes: Buffer.from(types) }] };
    using loaded = new BpfObject(system, callBpf(system, call));
    expect(loaded.fd).toBeGreaterThan(0);
  });
});
