// SPDX-License-Identifier: Apache-2.0
/** What all requests of the ethtool family share (linux/ethtool_netlink.h). */
import { nested, text } from "../wire/attributes.ts";

/** The name for resolveFamily(). */
export const ethtoolFamily = "ethtool";

const attributes = { header: 1, deviceName: 2 };

/** Returns the header that selects an interface. */
export function encodeDevice(name: string): Buffer {
  return nested(attributes.header, [text(attributes.deviceName, name)]);
}
