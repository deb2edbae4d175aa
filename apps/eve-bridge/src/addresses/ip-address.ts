// SPDX-License-Identifier: Apache-2.0
/**
 * Parses and formats IP addresses and prefixes. Addresses are bytes, so that different spellings of one address are
 * equal. It does not use node:net, which would add 2 ms to each start (docs/decisions/010-eve-bridge-launcher.md).
 */

/** 4 or 16 bytes. */
export type IpAddress = readonly number[];

/** An address with a prefix length. Host bits are kept, as in CNI results. */
export interface Cidr {
  readonly address: IpAddress;
  /** 0-32 or 0-128. */
  readonly bits: number;
}

/** Parses an IPv4 or IPv6 address without a zone; undefined if `text` is not an address. */
export function parseIp(text: string): IpAddress | undefined {
  return text.includes(":") ? parseIpv6(text) : parseIpv4(text);
}

/** Parses "address/bits"; undefined if `text` is not of this form. */
export function parseCidr(text: string): Cidr | undefined {
  const [host = "", length = "", ...rest] = text.split("/");
  const address = parseIp(host);
  if (address === undefined || rest.length > 0 || !/^(0|[1-9]\d{0,2})$/.test(length)) return undefined;
  const bits = Number(length);
  return bits <= address.length * 8 ? { address, bits } : undefined;
}

/** The address in its shortest spelling (RFC 5952). */
export function formatIp(address: IpAddress): string {
  if (isIpv4(address)) return address.join(".");
  const words = Array.from({ length: 8 }, (_, i) => (byteAt(address, 2 * i) << 8) | byteAt(address, 2 * i + 1));
  const zeros = longestZeros(words);
  const spell = (part: readonly number[]) => part.map((word) => word.toString(16)).join(":");
  if (zeros.length < 2) return spell(words);
  return `${spell(words.slice(0, zeros.start))}::${spell(words.slice(zeros.start + zeros.length))}`;
}

/** The prefix as "address/bits". */
export function formatCidr({ address, bits }: Cidr): string {
  return `${formatIp(address)}/${bits}`;
}

/** Whether the address is an IPv4 address. */
export function isIpv4(address: IpAddress): boolean {
  return address.length === 4;
}

/** Whether the address is 0.0.0.0 or ::. */
export function isUnspecified(address: IpAddress): boolean {
  return address.every((byte) => byte === 0);
}

/** The mask of a prefix, with as many bytes as the address. */
export function maskOf({ address, bits }: Cidr): Buffer {
  return Buffer.from(address.map((_, i) => (0xff00 >> Math.min(8, Math.max(0, bits - 8 * i))) & 0xff));
}

/** The prefix with its host bits cleared. */
export function networkOf(cidr: Cidr): Cidr {
  const mask = maskOf(cidr);
  return { address: cidr.address.map((byte, i) => byte & byteAt(mask, i)), bits: cidr.bits };
}

function parseIpv4(text: string): IpAddress | undefined {
  const parts = text.split(".");
  // Leading zeros are refused, because some programs read them as octal.
  if (parts.length !== 4 || !parts.every((part) => /^(0|[1-9]\d{0,2})$/.test(part))) return undefined;
  const bytes = parts.map(Number);
  return bytes.every((byte) => byte <= 255) ? bytes : undefined;
}

function parseIpv6(text: string): IpAddress | undefined {
  const halves = text.split("::");
  if (halves.length > 2) return undefined;
  const [head, tail] = halves.map((half, i) => bytesOfWords(half, i === halves.length - 1));
  if (head === undefined || (halves.length === 2 && tail === undefined)) return undefined;
  if (tail === undefined) return head.length === 16 ? unmapped(head) : undefined;
  const missing = 16 - head.length - tail.length;
  // "::" stands for at least one word.
  return missing >= 2 ? unmapped([...head, ...Array.from({ length: missing }, () => 0), ...tail]) : undefined;
}

/** The bytes of "a:b:c". The last part may be an IPv4 address if the whole text ends with it. */
function bytesOfWords(text: string, atEnd: boolean): number[] | undefined {
  if (text === "") return [];
  const bytes: number[] = [];
  const words = text.split(":");
  for (const [i, word] of words.entries()) {
    if (/^[0-9a-f]{1,4}$/i.test(word)) {
      const value = parseInt(word, 16);
      bytes.push(value >> 8, value & 0xff);
      continue;
    }
    const ipv4 = atEnd && i === words.length - 1 ? parseIpv4(word) : undefined;
    if (ipv4 === undefined) return undefined;
    bytes.push(...ipv4);
  }
  return bytes.length <= 16 ? bytes : undefined;
}

/** ::ffff:a.b.c.d becomes the IPv4 address, as in Go's net.IP. */
function unmapped(bytes: number[]): IpAddress {
  const isMapped = bytes.slice(0, 10).every((byte) => byte === 0) && bytes[10] === 0xff && bytes[11] === 0xff;
  return isMapped ? bytes.slice(12) : bytes;
}

function longestZeros(words: readonly number[]): { start: number; length: number } {
  let best = { start: 0, length: 0 };
  for (let start = 0; start < words.length; start++) {
    let length = 0;
    while (words[start + length] === 0) length++;
    if (length > best.length) best = { start, length };
  }
  return best;
}

function byteAt(bytes: ArrayLike<number>, index: number): number {
  return bytes[index] ?? 0;
}
