// SPDX-License-Identifier: Apache-2.0
/**
 * configOwner returns the owner reference with which an object is deleted together with the SriovOperatorConfig, or with the
 * AfxdpOperatorConfig, also while no operator runs. Only objects in the namespace of the config can have it.
 * Usage: `const metadata = { name, ownerReferences: [configOwner(config)] };`
 */
import {
  sriovOperatorConfigs,
  type OwnerReference,
  type ResourceType,
  type SriovOperatorConfig,
} from "@switchyard/api";
import { apiVersionOf } from "@switchyard/kube";

export function configOwner(
  { metadata }: Pick<SriovOperatorConfig, "metadata">,
  type: ResourceType = sriovOperatorConfigs,
): OwnerReference {
  const { name, uid = "" } = metadata;
  const { kind } = type;
  return {
    apiVersion: apiVersionOf(type),
    kind,
    name,
    uid,
    controller: true,
    blockOwnerDeletion: true,
  };
}
