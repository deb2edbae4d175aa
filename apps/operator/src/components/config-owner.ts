// SPDX-License-Identifier: Apache-2.0
/**
 * configOwner returns the owner reference with which an object is deleted together with the SriovOperatorConfig, also
 * while no operator runs. Only objects in the namespace of the SriovOperatorConfig can have it.
 * Usage: `const metadata = { name, ownerReferences: [configOwner(config)] };`
 */
import { sriovOperatorConfigs, type OwnerReference, type SriovOperatorConfig } from "@switchyard/api";
import { apiVersionOf } from "@switchyard/kube";

export function configOwner({ metadata }: Pick<SriovOperatorConfig, "metadata">): OwnerReference {
  const { name, uid = "" } = metadata;
  const { kind } = sriovOperatorConfigs;
  return {
    apiVersion: apiVersionOf(sriovOperatorConfigs),
    kind,
    name,
    uid,
    controller: true,
    blockOwnerDeletion: true,
  };
}
