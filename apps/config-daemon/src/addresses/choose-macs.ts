// SPDX-License-Identifier: Apache-2.0
/**
 * chooseMacs decides which MAC addresses the subfunctions of a device get: those that are recorded, else those that they have, if
 * an interface can have them, else new ones. Drivers choose none (mlx5_core), or another one at each activation (ice).
 */
import { isUnicast, parseMacAddress, type MacAddress } from "@switchyard/api";

export interface ChooseMacsOptions {
  /** What was chosen before, by number of the subfunction. */
  readonly recorded: Readonly<Record<string, string>> | undefined;
  /** The addresses of the subfunctions that exist, by number. */
  readonly present: ReadonlyMap<number, string>;
  /** Addresses of the node. A new address is none of them, and is added. */
  readonly taken: Set<string>;
  readonly random: RandomBytes;
}

/** Returns random bytes, as `randomBytes` of node:crypto. */
export type RandomBytes = (size: number) => Buffer;

/** Returns one address for each number. */
export function chooseMacs(
  numbers: readonly number[],
  { recorded, present, taken, random }: ChooseMacsOptions,
): Readonly<Record<string, MacAddress>> {
  return Object.fromEntries(
    numbers.map((sfNumber) => [
      sfNumber,
      usable(recorded?.[sfNumber]) ?? usable(present.get(sfNumber)) ?? drawMac(taken, random),
    ]),
  );
}

/** Of 46 random bits, so those of different nodes are practically never equal. */
function drawMac(taken: Set<string>, random: RandomBytes): MacAddress {
  for (;;) {
    const mac = usable(randomAddress(6, random));
    if (mac === undefined || taken.has(mac)) continue;
    taken.add(mac);
    return mac;
  }
}

function usable(text: string | undefined): MacAddress | undefined {
  const mac = parseMacAddress(text ?? "");
  return mac.ok && isUnicast(mac.value) ? mac.value : undefined;
}

/**
 * randomAddress draws an address that the administrator of a network may assign: the first byte has the bit "locally
 * administered" and not the bit "group". MAC addresses and GUIDs have these bits in the same place (IEEE 802). Returns `size`
 * bytes in lower-case hexadecimal, separated by colons. All but two of the bits are random.
 */
export function randomAddress(size: number, random: RandomBytes): string {
  const bytes = Buffer.from(random(size));
  bytes[0] = ((bytes[0] ?? 0) & 0xfc) | 0x02;
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join(":");
}
