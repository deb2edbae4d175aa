// SPDX-License-Identifier: Apache-2.0
/**
 * Net filters: the network that a virtual machine's NIC is plugged into, "key:value" (sriov-operator.md B.5, F.3).
 * Usage: `sameNetFilter(" openstack/NetworkID : 3f5c", "openstack/NetworkID:3f5c")` is true.
 */

/** One network, such as key "openstack/NetworkID" with the value of its UUID. Neither part is empty. */
export interface NetFilter {
  readonly key: string;
  readonly value: string;
}

/**
 * Reads the first `key : value` of a line; blanks around the parts do not count and what follows the value is ignored,
 * as upstream does. The key of "a:b:c" is "a:b". Undefined where no line has such a pair.
 */
export function parseNetFilter(text: string): NetFilter | undefined {
  // Line by line: one pattern over the whole text would take quadratic time on a text of newlines.
  for (const line of text.split("\n")) {
    const [, key, value] = /^\s*(\S+)\s*:\s*(\S+)/.exec(line) ?? [];
    if (key !== undefined && value !== undefined) return { key, value };
  }
  return undefined;
}

/**
 * Whether both name the same network. Two texts that do not parse are never the same. Admission and merging both ask
 * here, so that they cannot differ over a blank (M-36).
 */
export function sameNetFilter(a: string, b: string): boolean {
  const [left, right] = [parseNetFilter(a), parseNetFilter(b)];
  return left !== undefined && right !== undefined && left.key === right.key && left.value === right.value;
}
