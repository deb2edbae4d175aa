// SPDX-License-Identifier: Apache-2.0
/**
 * Tells on which platform a node runs, from Node.spec.providerID (sriov-operator.md F.1).
 * Usage: `platformOf("openstack:///1b2c…")` is "openstack".
 */

/** Where network cards come from: "baremetal" is everything that is not a known cloud. */
export type Platform = "baremetal" | "openstack" | "aws";

/** Compares as upstream does, which looks for a part of the text. */
export function platformOf(providerId: string | undefined): Platform {
  if (providerId?.includes("openstack") === true) return "openstack";
  return providerId?.includes("aws") === true ? "aws" : "baremetal";
}
