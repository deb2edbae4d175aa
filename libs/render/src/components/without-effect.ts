// SPDX-License-Identifier: Apache-2.0
/**
 * fieldsWithoutEffect returns the fields of a SriovOperatorConfig that this release does not implement. They are not
 * passed to any process; each of them results in a warning.
 * Usage: `fieldsWithoutEffect(config.spec)` contains spec.disablePlugins if it is not empty.
 */
import type { SriovOperatorConfigSpec } from "@switchyard/api";
import type { ComponentProblem } from "./rendered-components.ts";

interface WithoutEffect {
  readonly field: string;
  readonly message: string;
  readonly isSet: (spec: SriovOperatorConfigSpec) => boolean;
}

const noFirmware = "has no effect yet: this release does not change the firmware of network cards";

const fields: readonly WithoutEffect[] = [
  {
    field: "spec.disablePlugins",
    message: noFirmware,
    isSet: ({ disablePlugins = [] }) => disablePlugins.length > 0,
  },
  {
    field: "spec.featureGates.mellanoxFirmwareReset",
    message: noFirmware,
    isSet: ({ featureGates = {} }) => featureGates["mellanoxFirmwareReset"] === true,
  },
  {
    field: "spec.enableOvsOffload",
    message: "has no effect and should be removed",
    isSet: (spec) => "enableOvsOffload" in spec,
  },
];

/** Returns the fields that are set and have no effect, with messages. */
export function fieldsWithoutEffect(
  spec: SriovOperatorConfigSpec,
): readonly Pick<ComponentProblem, "field" | "message">[] {
  return fields.filter(({ isSet }) => isSet(spec)).map(({ field, message }) => ({ field, message }));
}
