// SPDX-License-Identifier: Apache-2.0
/**
 * withExpectedFirmware adds the firmware settings that Mellanox cards probably have, for predictions: a config daemon reads them
 * only once a policy concerns the card.
 * Usage: `plan(spec, { ...status, interfaces: withExpectedFirmware(interfaces, firmwarePolicyOf(config)) }, owned)`.
 */
import type { FirmwareStatus, InterfaceStatus } from "@switchyard/api";
import { firmwareDisabledReason, type FirmwarePolicy } from "@switchyard/policy";
import { isVirtualNic } from "./plan-virtual.ts";
import { isMellanox } from "./vf-limit.ts";

/** Returns the PFs; those of Mellanox cards without `firmware` get the values that their limit of VFs and link type show. */
export function withExpectedFirmware(
  pfs: readonly InterfaceStatus[],
  policy: FirmwarePolicy,
): readonly InterfaceStatus[] {
  return pfs.map((pf) =>
    pf.firmware === undefined && isMellanox(pf) && !isVirtualNic(pf)
      ? { ...pf, firmware: expectedFirmware(pf, policy) }
      : pf,
  );
}

function expectedFirmware(
  { totalvfs = 0, linkType }: InterfaceStatus,
  { isDisabled, isResetAllowed }: FirmwarePolicy,
): FirmwareStatus {
  if (isDisabled) return { unavailable: firmwareDisabledReason };
  const same = <T>(value: T): { readonly current: T; readonly next: T } => ({ current: value, next: value });
  return {
    numVfs: same(totalvfs),
    sriovEnabled: same(totalvfs > 0),
    ...(linkType && { linkType: same(linkType.toUpperCase()) }),
    resetAllowed: isResetAllowed,
  };
}
