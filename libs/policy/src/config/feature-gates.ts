// SPDX-License-Identifier: Apache-2.0
/**
 * Feature gates: SriovOperatorConfig.spec.featureGates over the defaults (sriov-operator.md H).
 * Usage: `isGateOn("manageSoftwareBridges", operatorConfig)`.
 */
import type { SriovOperatorConfig } from "@switchyard/api";

/**
 * What holds where the operator config says nothing. Names that are not here are accepted in the config and do nothing.
 */
export const featureGateDefaults = {
  /** The config daemon works on several PFs at once. */
  parallelNicConfig: false,
  /** The injector's webhook is called only for pods with the networks annotation, and must answer. */
  resourceInjectorMatchCondition: false,
  /** The metrics exporter is deployed. */
  metricsExporter: false,
  /** Bridges of policies are made and kept. */
  manageSoftwareBridges: false,
  /** The device plugin offers nothing until the node is configured. */
  blockDevicePluginUntilConfigured: true,
  /** Mellanox firmware is reset when its settings changed. */
  mellanoxFirmwareReset: true,
} as const;

/** Name of a feature gate. */
export type FeatureGate = keyof typeof featureGateDefaults;

/** Whether the gate is on; without a config the default holds. */
export function isGateOn(gate: FeatureGate, config: SriovOperatorConfig | undefined): boolean {
  return config?.spec?.featureGates?.[gate] ?? featureGateDefaults[gate];
}
