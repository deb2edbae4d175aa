// SPDX-License-Identifier: Apache-2.0
/**
 * matchesNic decides which PFs of a node a policy's nicSelector selects (sriov-operator.md B.5).
 * Usage: `interfaces.filter((nic) => matchesNic(policy.spec.nicSelector, nic))`.
 */
import type { InterfaceStatus, NicSelector } from "@switchyard/api";
import { pfNameOf } from "./pf-name.ts";

/** The names of a network interface. */
export interface NamedNic {
  readonly name?: string;
  readonly altNames?: readonly string[];
}

/** Reports whether no field is set. Empty strings and lists count as not set. Such a selector matches nothing. */
export function isEmptyNicSelector(selector: NicSelector): boolean {
  const { vendor, deviceID, netFilter, rootDevices = [], pfNames = [] } = selector;
  return !vendor && !deviceID && !netFilter && rootDevices.length === 0 && pfNames.length === 0;
}

/**
 * Reports whether the PF matches all fields that are set. pfNames are compared with its name and alternative names;
 * their VF ranges are ignored here.
 */
export function matchesNic(selector: NicSelector, nic: InterfaceStatus): boolean {
  const { vendor, deviceID, netFilter, rootDevices = [], pfNames = [] } = selector;
  return (
    !isEmptyNicSelector(selector) &&
    (!vendor || vendor === nic.vendor) &&
    (!deviceID || deviceID === nic.deviceID) &&
    (rootDevices.length === 0 || rootDevices.includes(nic.pciAddress)) &&
    (pfNames.length === 0 || pfNames.some((entry) => isNameOf(pfNameOf(entry), nic))) &&
    (!netFilter || sameNetFilter(netFilter, nic.netFilter ?? ""))
  );
}

/**
 * Reports whether the PF could match the selector once all its properties are known. Properties that are unknown, such
 * as the name of a network interface that is currently absent, count as matching, and so does a netFilter that cannot
 * be parsed.
 */
export function couldMatchNic(selector: NicSelector, nic: InterfaceStatus): boolean {
  const { vendor, deviceID, netFilter, rootDevices, pfNames } = selector;
  return (
    !isEmptyNicSelector(selector) &&
    matchesNic(
      {
        rootDevices: rootDevices?.length ? rootDevices : [nic.pciAddress],
        ...(vendor && nic.vendor !== undefined && { vendor }),
        ...(deviceID && nic.deviceID !== undefined && { deviceID }),
        ...(pfNames && nic.name && { pfNames }),
        ...(netFilter && nic.netFilter !== undefined && parseNetFilter(netFilter) !== undefined && { netFilter }),
      },
      nic,
    )
  );
}

/** Reports whether `name` is the PF's name or one of its alternative names. */
export function isNameOf(name: string, nic: NamedNic): boolean {
  return name !== "" && (name === nic.name || (nic.altNames?.includes(name) ?? false));
}

/**
 * NetFilter is the network that a virtual machine's NIC is attached to, written as "key:value"
 * (sriov-operator.md B.5, F.3).
 * A network, for example the key "openstack/NetworkID" with a UUID as value. Neither part is empty.
 */
interface NetFilter {
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
