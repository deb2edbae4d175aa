// SPDX-License-Identifier: Apache-2.0
/**
 * FirmwarePolicy is the part of the SriovOperatorConfig that concerns the firmware of Mellanox cards.
 * Usage: `firmwarePolicyOf(operatorConfig).isResetAllowed`.
 */
import type { SriovOperatorConfig } from "@switchyard/api";
import { isGateOn } from "./feature-gates.ts";

export interface FirmwarePolicy {
  /** spec.disablePlugins contains "mellanox". */
  readonly isDisabled: boolean;
  /** The feature gate mellanoxFirmwareReset. */
  readonly isResetAllowed: boolean;
}

/** Why no settings are read or changed if the policy is disabled. */
export const firmwareDisabledReason = 'SriovOperatorConfig.spec.disablePlugins contains "mellanox"';

/** Without an operator config, the defaults of the operator apply. */
export function firmwarePolicyOf(config: SriovOperatorConfig | undefined): FirmwarePolicy {
  return {
    isDisabled: config?.spec?.disablePlugins?.includes("mellanox") === true,
    isResetAllowed: isGateOn("mellanoxFirmwareReset", config),
  };
}
