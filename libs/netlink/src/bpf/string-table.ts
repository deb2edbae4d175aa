// SPDX-License-Identifier: Apache-2.0
/**
 * StringTable collects the names in an object file: text that ends with a NUL, at an offset.
 * Usage: `const strings = new StringTable(); const offset = strings.add("xdp"); strings.encode();`
 */
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
