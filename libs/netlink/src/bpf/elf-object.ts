// SPDX-License-Identifier: Apache-2.0
/**
 * encodeElfObject writes an object file for BPF: ELF, 64 bit, little endian (elf.h; R_BPF_64_64 from
 * Documentation/bpf/llvm_reloc.rst of the kernel). The tables of symbols and names are added.
 */

export interface ElfSection {
  readonly name: string;
  readonly content: Buffer;
  /** What the loader does with it: "code" runs, "data" is loaded, "info" is only read. */
  readonly use: "code" | "data" | "info";
}

/** A global name at the start of a section. */
export interface ElfSymbol {
  readonly name: string;
  readonly kind: "function" | "object";
  readonly section: string;
  readonly bytes: number;
}

/** A place in a section where the loader puts the address of a symbol. */
export interface ElfRelocation {
  readonly section: string;
  readonly offset: number;
  readonly symbol: string;
}

export interface ElfContent {
  readonly sections: readonly ElfSection[];
  readonly symbols: readonly ElfSymbol[];
  readonly relocations: readonly ElfRelocation[];
}

// elf.h
const sectionTypes = { data: 1, symbols: 2, names: 3, relocations: 9 };
const flagsOf = { code: 6, data: 3, info: 0 }; // SHF_ALLOC and SHF_EXECINSTR, SHF_ALLOC and SHF_WRITE
const symbolKinds = { object: 1, function: 2 };
const [isGlobal, machineBpf, relocatable, bpf64] = [1, 247, 1, 1] as const;
const [headerBytes, sectionHeaderBytes, symbolBytes, relocationBytes] = [64, 64, 24, 16] as const;
const alignment = 8;

interface Part {
  readonly name: string;
  readonly type: number;
  readonly flags: number;
  readonly content: Buffer;
  readonly link?: number;
  readonly info?: number;
  readonly entryBytes?: number;
}

export function encodeElfObject({ sections, symbols, relocations }: ElfContent): Buffer {
  const names = new StringTable();
  const indexOf = (section: string): number => 1 + sections.findIndex(({ name }) => name === section);
  const symbolTable = Buffer.concat([
    Buffer.alloc(symbolBytes),
    ...symbols.map((symbol) => encodeSymbol(symbol, names.add(symbol.name), indexOf(symbol.section))),
  ]);
  const symbolIndex = 1 + sections.length;
  const relocated = [...Map.groupBy(relocations, ({ section }) => section)].map(([section, all]): Part => {
    const places = all.map(({ offset, symbol }) =>
      encodeRelocation(offset, 1 + symbols.findIndex(({ name }) => name === symbol)),
    );
    return {
      name: `.rel${section}`,
      type: sectionTypes.relocations,
      flags: 0,
      content: Buffer.concat(places),
      link: symbolIndex,
      info: indexOf(section),
      entryBytes: relocationBytes,
    };
  });
  const namesIndex = symbolIndex + relocated.length + 1;
  const parts: readonly Part[] = [
    ...sections.map(({ name, content, use }) => ({ name, content, type: sectionTypes.data, flags: flagsOf[use] })),
    {
      name: ".symtab",
      type: sectionTypes.symbols,
      flags: 0,
      content: symbolTable,
      link: namesIndex,
      info: 1,
      entryBytes: symbolBytes, // 1: number of the first global symbol
    },
    ...relocated,
  ];
  for (const { name } of parts) names.add(name);
  names.add(".strtab");
  return layOut([...parts, { name: ".strtab", type: sectionTypes.names, flags: 0, content: names.encode() }], names);
}

/** The file: its header, the sections, and the table of section headers. */
function layOut(parts: readonly Part[], names: StringTable): Buffer {
  const headers: Buffer[] = [Buffer.alloc(sectionHeaderBytes)];
  const contents: Buffer[] = [];
  let end: number = headerBytes;
  for (const part of parts) {
    const padding = Buffer.alloc(-part.content.length & (alignment - 1));
    headers.push(encodeSectionHeader(part, names.add(part.name), end));
    contents.push(part.content, padding);
    end += part.content.length + padding.length;
  }
  return Buffer.concat([encodeHeader(end, headers.length), ...contents, ...headers]);
}

function encodeHeader(sectionTable: number, sections: number): Buffer {
  const header = Buffer.alloc(headerBytes);
  header.set([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1]); // "\x7fELF", 64 bit, little endian, version
  header.writeUInt16LE(relocatable, 16);
  header.writeUInt16LE(machineBpf, 18);
  header.writeUInt32LE(1, 20);
  header.writeBigUInt64LE(BigInt(sectionTable), 40);
  header.writeUInt16LE(headerBytes, 52);
  header.writeUInt16LE(sectionHeaderBytes, 58);
  header.writeUInt16LE(sections, 60);
  header.writeUInt16LE(sections - 1, 62); // the section with the names is the last
  return header;
}

function encodeSectionHeader(part: Part, name: number, offset: number): Buffer {
  const header = Buffer.alloc(sectionHeaderBytes);
  header.writeUInt32LE(name, 0);
  header.writeUInt32LE(part.type, 4);
  header.writeBigUInt64LE(BigInt(part.flags), 8);
  header.writeBigUInt64LE(BigInt(offset), 24);
  header.writeBigUInt64LE(BigInt(part.content.length), 32);
  header.writeUInt32LE(part.link ?? 0, 40);
  header.writeUInt32LE(part.info ?? 0, 44);
  header.writeBigUInt64LE(BigInt(alignment), 48);
  header.writeBigUInt64LE(BigInt(part.entryBytes ?? 0), 56);
  return header;
}

function encodeSymbol({ kind, bytes }: ElfSymbol, name: number, section: number): Buffer {
  const symbol = Buffer.alloc(symbolBytes);
  symbol.writeUInt32LE(name, 0);
  symbol.writeUInt8((isGlobal << 4) | symbolKinds[kind], 4);
  symbol.writeUInt16LE(section, 6);
  symbol.writeBigUInt64LE(BigInt(bytes), 16);
  return symbol;
}

function encodeRelocation(offset: number, symbol: number): Buffer {
  const relocation = Buffer.alloc(relocationBytes);
  relocation.writeBigUInt64LE(BigInt(offset), 0);
  relocation.writeBigUInt64LE((BigInt(symbol) << 32n) | BigInt(bpf64), 8);
  return relocation;
}

/** StringTable collects the names in an object file: text that ends with a NUL, at an offset. */
export class StringTable {
  readonly #offsets = new Map([["", 0]]);
  #length = 1;

  /** Returns the offset of the text, which is added once. */
  add(text: string): number {
    const known = this.#offsets.get(text);
    if (known !== undefined) return known;
    const offset = this.#length;
    this.#offsets.set(text, offset);
    this.#length += Buffer.byteLength(text) + 1;
    return offset;
  }

  encode(): Buffer {
    return Buffer.from([...this.#offsets.keys()].map((text) => `${text}\0`).join(""));
  }
}
