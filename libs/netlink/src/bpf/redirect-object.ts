// SPDX-License-Identifier: Apache-2.0
/**
 * encodeRedirectObject returns the program of redirect-program.ts as an object file, for loaders such as bpfman, libbpf and
 * xdp-loader. The map is defined by BTF, as libbpf 1.0 requires; the program has the BTF of its function, without which the
 * kernel does not attach it to the dispatcher of such a loader.
 * Usage: `await writeFile("xsk_redirect.o", encodeRedirectObject("xsk_redirect"));`
 */
import { encodeBtf, type BtfType } from "./btf.ts";
import { encodeElfObject } from "./elf-object.ts";
import { encodeRedirectProgram, redirectMapOffset } from "./redirect-program.ts";
import { programLicense } from "./xdp-program.ts";
import { xskMapName, xskMapType } from "./xsk-map.ts";

/** Queues that the map has room for: as many as a device can have in a policy. */
const maxQueues = 1024;
const pointerBytes = 8;

// struct xdp_md (linux/bpf.h). The kernel compares the name of the type with that of the dispatcher's.
const contextFields = ["data", "data_end", "data_meta", "ingress_ifindex", "rx_queue_index", "egress_ifindex"];

/** In a map that is defined by BTF, a number is the length of an array to which a member points. */
const mapFields = { type: xskMapType, key_size: 4, value_size: 4, max_entries: maxQueues };

/** Returns the object file. The function has this name, the map the name "xsks_map". */
export function encodeRedirectObject(functionName: string): Buffer {
  const [int, unsigned, context, contextPointer, prototype, entry, map, variable] = [1, 2, 3, 4, 5, 6, 7, 8] as const;
  const firstField = 10;
  const fields = Object.entries(mapFields);
  const mapBytes = pointerBytes * fields.length;
  const types: readonly BtfType[] = [
    { kind: "int", name: "int", isSigned: true },
    { kind: "int", name: "unsigned int", isSigned: false },
    {
      kind: "struct",
      name: "xdp_md",
      bytes: 4 * contextFields.length,
      members: contextFields.map((name, at) => ({ name, type: unsigned, offset: 4 * at })),
    },
    { kind: "pointer", to: context },
    { kind: "prototype", returns: int, parameters: [{ name: "ctx", type: contextPointer, offset: 0 }] },
    { kind: "function", name: functionName, prototype },
    {
      kind: "struct",
      name: "",
      bytes: mapBytes,
      members: fields.map(([name], at) => ({ name, type: firstField + 2 * at + 1, offset: pointerBytes * at })),
    },
    { kind: "variable", name: xskMapName, type: map },
    { kind: "section", name: ".maps", variables: [{ variable, bytes: mapBytes }], bytes: mapBytes },
    ...fields.flatMap(([, length], at): readonly BtfType[] => [
      { kind: "array", of: int, index: unsigned, length },
      { kind: "pointer", to: firstField + 2 * at },
    ]),
  ];
  const instructions = encodeRedirectProgram(0);
  const license = Buffer.from(`${programLicense}\0`);
  const btf = encodeBtf(types, { section: "xdp", functionType: entry });
  return encodeElfObject({
    sections: [
      { name: "xdp", content: instructions, use: "code" },
      { name: ".maps", content: Buffer.alloc(mapBytes), use: "data" },
      { name: "license", content: license, use: "data" },
      { name: ".BTF", content: btf.types, use: "info" },
      { name: ".BTF.ext", content: btf.extension, use: "info" },
    ],
    symbols: [
      { name: functionName, kind: "function", section: "xdp", bytes: instructions.length },
      { name: xskMapName, kind: "object", section: ".maps", bytes: mapBytes },
      { name: "_license", kind: "object", section: "license", bytes: license.length },
    ],
    relocations: [{ section: "xdp", offset: redirectMapOffset, symbol: xskMapName }],
  });
}
