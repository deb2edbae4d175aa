// SPDX-License-Identifier: Apache-2.0
/**
 * NetFilter is the network that a virtual machine's NIC is attached to, written as "key:value"
 * (sriov-operator.md B.5, F.3).
 * Usage: `sameNetFilter(" openstack/NetworkID : 3f5c", "openstack/NetworkID:3f5c")` is true.
 */

/** A network, for example the key "openstack/NetworkID" with a UUID as value. Neither part is empty. */
export interface NetFilter {
  readonly key: string;
  readonly value: string;
}

/**
 * Parses the first `key : value` at the start of a line. As in upstream, blanks around the parts and text after the
 * value are ignored. The key of "a:b:c" is "a:b". Returns undefined if no line starts with such a pair.
 */
export function parseNetFilter(text: string): NetFilter | undefined {
  // Line by line: a single pattern would take quadratic time on a text of many line breaks.
  for (const line of text.split("\n")) {
    const [, key, value] = /^\s*(\S+)\s*:\s*(\S+)/.exec(line) ?? [];
    if (key !== undefined && value !== undefined) return { key, value };
  }
  return undefined;
}

/**
 * Reports whether both texts name the same network. Texts that cannot be parsed are never equal. Admission and merging
 * both use this function, so they treat blanks in the same way (sriov-operator.md M-36).
 */
export function sameNetFilter(a: string, b: string): boolean {
  const [left, right] = [parseNetFilter(a), parseNetFilter(b)];
  return left !== undefined && right !== undefined && left.key === right.key && left.value === right.value;
}
