// SPDX-License-Identifier: Apache-2.0
/**
 * Feature gates: SriovOperatorConfig.spec.featureGates combined with the defaults (sriov-operator.md H).
 * Usage: `isGateOn("manageSoftwareBridges", operatorConfig)`.
 */
import type { SriovOperatorConfig } from "@switchyard/api";

/** The known gates and their defaults. Other names in the operator config are accepted and have no effect. */
export const featureGateDefaults = {
  /** The config daemon configures several PFs concurrently. It is off by default in upstream. */
  parallelNicConfig: true,
  /**
   * The API server calls the injector only for pods with the networks annotation, and rejects them if the call fails.
   */
  resourceInjectorMatchCondition: false,
  /** The operator deploys the metrics exporter. */
  metricsExporter: false,
  /** The config daemon creates the software bridges of policies. */
  manageSoftwareBridges: false,
  /** The device plugin offers no devices until the node is configured. */
  blockDevicePluginUntilConfigured: true,
  /** Mellanox firmware is reset after its settings have changed. */
  mellanoxFirmwareReset: true,
  /** Pods get VFs by ResourceClaims on nodes whose pool does not say otherwise. Other operators have the gate, too. */
  dynamicResourceAllocation: false,
} as const;

/** Name of a feature gate. */
export type FeatureGate = keyof typeof featureGateDefaults;

/** Reports whether the gate is on. Without an operator config its default applies. */
export function isGateOn(gate: FeatureGate, config: SriovOperatorConfig | undefined): boolean {
  return config?.spec?.featureGates?.[gate] ?? featureGateDefaults[gate];
}

/** FirmwarePolicy is the part of the SriovOperatorConfig that concerns the firmware of Mellanox cards. */
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
