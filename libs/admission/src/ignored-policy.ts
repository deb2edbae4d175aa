// SPDX-License-Identifier: Apache-2.0
/**
 * The policy that is no policy: upstream once made one named "default", and passes over that name since (B.3). The same
 * is so for defaults, rules and merging, in each namespace (M-37).
 */
import type { SriovNetworkNodePolicy } from "@switchyard/api";

export function isIgnoredPolicy({ metadata }: SriovNetworkNodePolicy): boolean {
  return metadata.name === "default";
}
