// SPDX-License-Identifier: Apache-2.0
/**
 * toCardModeStatus converts the firmware settings of one port of a BlueField to its mode (smartnic.md 7.1, 7.5). It is a pure
 * function.
 */
import { defined, type CardMode, type CardModeStatus } from "@switchyard/api";
import type { FirmwareSettings } from "@switchyard/host";
import { cardModeOf, type CardModeSetting } from "@switchyard/plan";
import type { SmartNicModel } from "@switchyard/policy";
import type { KnownFirmware } from "./firmware-queries.ts";

export function toCardModeStatus(model: SmartNicModel, { settings, privilege }: KnownFirmware): CardModeStatus {
  const current = cardModeOf(model, (name) => settings.get(name)?.current);
  const next = cardModeOf(model, (name) => settings.get(name)?.next ?? hiddenValue(name, settings));
  // The level of privilege takes effect at once, so it is the same after the next power cycle.
  const withLevel = (mode: CardMode): CardMode =>
    mode === "embedded-cpu" && privilege === "restricted" ? "restricted" : mode;
  const isChanging = next !== "unknown" && current !== "unknown" && current !== next;
  return {
    current: withLevel(current),
    next: withLevel(next),
    ...defined({
      powerCycleRequired: isChanging ? true : undefined,
      privilegeUnknown: typeof privilege === "object" ? privilege.unknown : undefined,
    }),
  };
}

/** Reports whether the settings are those of a card that can be restricted. */
export function canBeRestricted(model: SmartNicModel, settings: FirmwareSettings): boolean {
  return cardModeOf(model, (name) => settings.get(name)?.current) === "embedded-cpu";
}

/**
 * A card that leaves separated host mode shows the other settings only after the power cycle. Unless somebody changed them
 * before, they are 0 then; otherwise the mode that is observed then is changed once more.
 */
function hiddenValue(name: CardModeSetting, settings: FirmwareSettings): number | undefined {
  const isLeaving = settings.get("INTERNAL_CPU_MODEL")?.current === 0;
  return isLeaving && name !== "INTERNAL_CPU_MODEL" ? 0 : undefined;
}
