// SPDX-License-Identifier: Apache-2.0
/**
 * The modes of BlueField cards by the firmware settings that decide them (smartnic.md 7.1). Only numbers are compared,
 * because the texts differ between the versions of mstconfig.
 * Usage: `cardModeOf("bluefield-2", (name) => settings.get(name)?.current)` is "embedded-cpu".
 */
import type { CardMode } from "@switchyard/api";
import type { SmartNicModel } from "@switchyard/policy";

/** The settings and the texts of their values, by number. */
export const cardModeSettings = {
  INTERNAL_CPU_MODEL: ["SEPARATED_HOST", "EMBEDDED_CPU"],
  INTERNAL_CPU_PAGE_SUPPLIER: ["ECPF", "EXT_HOST_PF"],
  INTERNAL_CPU_ESWITCH_MANAGER: ["ECPF", "EXT_HOST_PF"],
  INTERNAL_CPU_IB_VPORT0: ["ECPF", "EXT_HOST_PF"],
  INTERNAL_CPU_OFFLOAD_ENGINE: ["ENABLED", "DISABLED"],
} as const;

export type CardModeSetting = keyof typeof cardModeSettings;

/** The settings to change and their values. */
export type CardModeValues = Readonly<Partial<Record<CardModeSetting, number>>>;

const cpuOwners = ["INTERNAL_CPU_PAGE_SUPPLIER", "INTERNAL_CPU_ESWITCH_MANAGER", "INTERNAL_CPU_IB_VPORT0"] as const;

/**
 * Returns the mode of a port whose settings have these values; "unknown" if one is missing or if they fit no mode. Whether the
 * host may change the card does not depend on them, so the result is never "restricted". `valueOf` returns undefined for a
 * setting that the firmware or mstconfig does not have: mstflint before 4.20 knows only INTERNAL_CPU_MODEL.
 */
export function cardModeOf(
  model: SmartNicModel,
  valueOf: (name: CardModeSetting) => number | undefined,
): Exclude<CardMode, "restricted"> {
  const cpu = valueOf("INTERNAL_CPU_MODEL");
  const engine = valueOf("INTERNAL_CPU_OFFLOAD_ENGINE");
  if (cpu === 0) return "separated-host";
  if (model === "bluefield-3") return (cpu === 1 && modeByEngine[engine ?? -1]) || "unknown";
  const owners = cpuOwners.map(valueOf);
  if (cpu !== 1 || owners.some((owner) => owner !== engine)) return "unknown";
  return modeByEngine[engine ?? -1] ?? "unknown";
}

const modeByEngine: Readonly<Record<number, "embedded-cpu" | "nic">> = { 0: "embedded-cpu", 1: "nic" };

/**
 * Returns the values that lead from `next`, the mode of the next power cycle, to embedded-cpu. In separated host mode, the
 * firmware has only the first setting. The others appear after it has changed, and are 0, which is what is needed.
 */
export function valuesForEmbeddedCpu(model: SmartNicModel, next: CardMode | undefined): CardModeValues {
  if (next === "separated-host") return { INTERNAL_CPU_MODEL: 1 };
  if (model === "bluefield-3") return { INTERNAL_CPU_OFFLOAD_ENGINE: 0 };
  return {
    INTERNAL_CPU_MODEL: 1,
    INTERNAL_CPU_PAGE_SUPPLIER: 0,
    INTERNAL_CPU_ESWITCH_MANAGER: 0,
    INTERNAL_CPU_IB_VPORT0: 0,
    INTERNAL_CPU_OFFLOAD_ENGINE: 0,
  };
}
