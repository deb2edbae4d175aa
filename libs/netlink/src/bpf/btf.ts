// SPDX-License-Identifier: Apache-2.0
/**
 * encodeBtf encodes the types of a BPF object file (Documentation/bpf/btf.rst of the kernel). Only the kinds that an XDP program
 * with one map needs are there.
 */
import { StringTable } from "./elf-object.ts";

/** A type. References are the numbers of types, from 1, in the order of the list. */
export type BtfType =
  | { readonly kind: "int"; readonly name: string; readonly isSigned: boolean }
  | { readonly kind: "pointer"; readonly to: number }
  | { readonly kind: "array"; readonly of: number; readonly index: number; readonly length: number }
  | { readonly kind: "struct"; readonly name: string; readonly bytes: number; readonly members: readonly BtfMember[] }
  | { readonly kind: "prototype"; readonly returns: number; readonly parameters: readonly BtfMember[] }
  | { readonly kind: "function"; readonly name: string; readonly prototype: number }
  | { readonly kind: "variable"; readonly name: string; readonly type: number }
  | {
      readonly kind: "section";
      readonly name: string;
      readonly variables: readonly BtfVariable[];
      readonly bytes: number;
    };

/** A member of a struct, with its offset in bytes, or a parameter of a function, whose offset does not matter. */
export interface BtfMember {
  readonly name: string;
  readonly type: number;
  readonly offset: number;
}

/** A variable in a section of the object file. */
export interface BtfVariable {
  readonly variable: number;
  readonly bytes: number;
}

/** The function of a program and the section that it starts. */
export interface BtfFunctionInfo {
  readonly section: string;
  /** Number of the type. */
  readonly functionType: number;
}

// linux/btf.h
const kinds = { int: 1, pointer: 2, array: 3, struct: 4, function: 12, prototype: 13, variable: 14, section: 15 };
const [magic, version, headerBytes, extensionHeaderBytes] = [0xeb9f, 1, 24, 24] as const;
const [signed, global, intBytes] = [1, 1, 4] as const;

/** Returns the content of the sections ".BTF" and ".BTF.ext". All integers have four bytes. */
export function encodeBtf(
  types: readonly BtfType[],
  info: BtfFunctionInfo,
): { readonly types: Buffer; readonly extension: Buffer } {
  const strings = new StringTable();
  const encoded = Buffer.concat(types.map((type) => encodeType(type, strings)));
  const functions = words([8, strings.add(info.section), 1, 0, info.functionType]); // size of a record, section, count, offset
  const text = strings.encode();
  const header = words([magic | (version << 16), headerBytes, 0, encoded.length, encoded.length, text.length]);
  const start = words([magic | (version << 16), extensionHeaderBytes, 0, functions.length, functions.length, 0]); // no lines
  return { types: Buffer.concat([header, encoded, text]), extension: Buffer.concat([start, functions]) };
}

function encodeType(type: BtfType, strings: StringTable): Buffer {
  const head = (name: string, count: number, sizeOrType: number, flag = 0): Buffer =>
    words([strings.add(name), (kinds[type.kind] << 24) | (flag << 31) | count, sizeOrType]);
  switch (type.kind) {
    case "int":
      return Buffer.concat([
        head(type.name, 0, intBytes),
        words([((type.isSigned ? signed : 0) << 24) | (8 * intBytes)]),
      ]);
    case "pointer":
      return head("", 0, type.to);
    case "array":
      return Buffer.concat([head("", 0, 0), words([type.of, type.index, type.length])]);
    case "struct": {
      const members = type.members.flatMap(({ name, type: of, offset }) => [strings.add(name), of, 8 * offset]);
      return Buffer.concat([head(type.name, type.members.length, type.bytes), words(members)]);
    }
    case "prototype": {
      const parameters = type.parameters.flatMap(({ name, type: of }) => [strings.add(name), of]);
      return Buffer.concat([head("", type.parameters.length, type.returns), words(parameters)]);
    }
    case "function":
      return head(type.name, global, type.prototype);
    case "variable":
      return Buffer.concat([head(type.name, 0, type.type), words([global])]);
    case "section": {
      const variables = type.variables.flatMap(({ variable, bytes }) => [variable, 0, bytes]);
      return Buffer.concat([head(type.name, type.variables.length, type.bytes), words(variables)]);
    }
  }
}

function words(values: readonly number[]): Buffer {
  const encoded = Buffer.alloc(4 * values.length);
  for (const [at, value] of values.entries()) encoded.writeUInt32LE(value >>> 0, 4 * at);
  return encoded;
}
