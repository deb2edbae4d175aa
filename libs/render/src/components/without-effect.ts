// SPDX-License-Identifier: Apache-2.0
/**
 * What upstream's SriovOperatorConfig can ask for and this release does nothing about. None of it is handed to any process;
 * whoever asks for it is told.
 * Usage: `fieldsWithoutEffect(config.spec)` names spec.disablePlugins where it is not empty.
 */
import type { SriovOperatorConfigSpec } from "@switchyard/api";
import type { ComponentProblem } from "./rendered-components.ts";

interface WithoutEffect {
  readonly field: string;
  readonly message: string;
  readonly isAsked: (spec: SriovOperatorConfigSpec) => boolean;
}

const noFirmware = "has no effect yet: the firmware of network cards is left as it is";

const fields: readonly WithoutEffect[] = [
  {
    field: "spec.configurationMode",
    message: "systemd is not supported yet: the running daemon configures the nodes, no node reboots for it",
    isAsked: ({ configurationMode }) => configurationMode === "systemd",
  },
  {
    field: "spec.disablePlugins",
    message: noFirmware,
    isAsked: ({ disablePlugins = [] }) => disablePlugins.length > 0,
  },
  {
    field: "spec.featureGates.mellanoxFirmwareReset",
    message: noFirmware,
    isAsked: ({ featureGates = {} }) => featureGates["mellanoxFirmwareReset"] === true,
  },
  {
    field: "spec.enableOvsOffload",
    message: "has no effect: leave it out",
    isAsked: (spec) => "enableOvsOffload" in spec,
  },
];

export function fieldsWithoutEffect(
  spec: SriovOperatorConfigSpec,
): readonly Pick<ComponentProblem, "field" | "message">[] {
  return fields.filter(({ isAsked }) => isAsked(spec)).map(({ field, message }) => ({ field, message }));
}
