// SPDX-License-Identifier: Apache-2.0
/**
 * upstreamObjects lists the objects of a release of upstream's chart that Switchyard's chart does not contain and that must
 * stay when Helm upgrades the release. Helm deletes objects that are only in the last manifest, unless the object has the
 * annotation helm.sh/resource-policy: keep.
 * Usage: `for (const { type, name } of upstreamObjects(namespace)) console.log(type.kind, name);`
 */
import { operatorConfigName, sriovOperatorConfigs, type ResourceType } from "@switchyard/api";
import type { ObjectName } from "@switchyard/kube";
import { componentInventory } from "@switchyard/render";

export interface UpstreamObject extends ObjectName {
  readonly type: ResourceType;
}

/** Name of the config daemon's service account and its roles, which upstream's chart contains and Switchyard's operator deploys. */
const daemonAccount = "sriov-network-config-daemon";

const accountKinds: readonly string[] = ["ServiceAccount", "ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"];

/**
 * The service account: with another UID, tokens of running pods answer 401 for up to an hour. The SriovOperatorConfig: without
 * it, all components and node states are deleted.
 */
export function upstreamObjects(namespace: string): readonly UpstreamObject[] {
  const account = componentInventory({ namespace }).filter(({ component, type, name }) => {
    return component === "config-daemon" && name === daemonAccount && accountKinds.includes(type.kind);
  });
  return [...account, { type: sriovOperatorConfigs, name: operatorConfigName, namespace }];
}
