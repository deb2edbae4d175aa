// SPDX-License-Identifier: Apache-2.0
/**
 * nicSelector: which PFs of a node a policy means (sriov-operator.md B.5).
 * Usage: `interfaces.filter((nic) => matchesNic(policy.spec.nicSelector, nic))`.
 */
import type { InterfaceStatus, NicSelector } from "@switchyard/api";
import { parseNetFilter, sameNetFilter } from "./net-filter.ts";
import { pfNameOf } from "./pf-name.ts";

/** Whether no field is given (empty texts and lists count as not given): such a selector matches nothing. */
export function isEmptyNicSelector(selector: NicSelector): boolean {
  const { vendor, deviceID, netFilter, rootDevices = [], pfNames = [] } = selector;
  return !vendor && !deviceID && !netFilter && rootDevices.length === 0 && pfNames.length === 0;
}

/**
 * Whether the PF fulfils every field that is given. pfNames are compared with its name and alternative names; whether
 * their VF ranges are any good plays no role here.
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
 * Whether the PF might fulfil the selector once everything is known: facts that the PF lacks, such as the name of a network
 * interface that is absent at the moment, and a netFilter that cannot be read, count as fulfilled.
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

/** Whether `name` is the PF's name or one of its alternative names. */
export function isNameOf(name: string, nic: InterfaceStatus): boolean {
  return name !== "" && (name === nic.name || (nic.altNames?.includes(name) ?? false));
}
