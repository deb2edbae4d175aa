// SPDX-License-Identifier: Apache-2.0
/** What all requests of the devlink family share (linux/devlink.h). */
import { find, readText, text, type Attribute } from "../wire/attributes.ts";

/** Name of the devlink family for resolveFamily. */
export const devlinkFamily = "devlink";

/** A devlink instance: bus "pci", device "0000:06:00.0". */
export interface DevlinkHandle {
  readonly bus: string;
  readonly device: string;
}

const attributes = { busName: 1, deviceName: 2 };

export function encodeHandle({ bus, device }: DevlinkHandle): readonly Buffer[] {
  return [text(attributes.busName, bus), text(attributes.deviceName, device)];
}

/** Returns the instance that a message or a nested attribute names, or undefined if it names none. */
export function readHandle(attributesOf: readonly Attribute[]): DevlinkHandle | undefined {
  const [bus, device] = [find(attributesOf, attributes.busName), find(attributesOf, attributes.deviceName)];
  return bus && device && { bus: readText(bus), device: readText(device) };
}
