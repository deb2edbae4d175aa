// SPDX-License-Identifier: Apache-2.0
/**
 * A process's identity: its service account and the roles that say what it may do. A role without rules is not made.
 * Usage: `accessObjects("operator-webhook", { serviceAccount, namespaceRole, namespaceRules, … }, input)`.
 */
import { operatorConfigName } from "@switchyard/api";
import { clusterScoped, namespaced, type ComponentInput } from "../component.ts";
import type { PolicyRule, Role, RoleBinding, ServiceAccount } from "../objects/kube-objects.ts";
import type { Manifest } from "../objects/manifest.ts";
import type { ComponentName } from "../rendered-components.ts";

export interface Access {
  readonly serviceAccount: string;
  /** In the operator's namespace. */
  readonly inNamespace?: RoleSpec;
  /** In all of the cluster. */
  readonly inCluster?: RoleSpec;
}

export interface RoleSpec {
  readonly role: string;
  readonly binding: string;
  readonly rules: readonly PolicyRule[];
}

const apiVersion = "rbac.authorization.k8s.io/v1";
const apiGroup = "rbac.authorization.k8s.io";

export function accessObjects(component: ComponentName, access: Access, input: ComponentInput): readonly Manifest[] {
  const { serviceAccount: name, inNamespace, inCluster } = access;
  const subjects = [{ kind: "ServiceAccount", name, namespace: input.settings.namespace }] as const;
  const account: ServiceAccount = {
    apiVersion: "v1",
    kind: "ServiceAccount",
    metadata: namespaced(component, name, input),
  };

  function roleObjects(scope: "" | "Cluster", { role, binding, rules }: RoleSpec): readonly [Role, RoleBinding] {
    const metadataOf = (object: string) =>
      scope === "" ? namespaced(component, object, input) : clusterScoped(component, object);
    const roleRef = { apiGroup, kind: `${scope}Role`, name: role } as const;
    return [
      { apiVersion, kind: `${scope}Role`, metadata: metadataOf(role), rules },
      { apiVersion, kind: `${scope}RoleBinding`, metadata: metadataOf(binding), roleRef, subjects },
    ];
  }

  return [
    account,
    ...(inNamespace !== undefined && inNamespace.rules.length > 0 ? roleObjects("", inNamespace) : []),
    ...(inCluster !== undefined && inCluster.rules.length > 0 ? roleObjects("Cluster", inCluster) : []),
  ];
}

/** On OpenShift pods with more than the least rights need this. */
export function privilegedRules({ settings }: ComponentInput): readonly PolicyRule[] {
  if (settings.clusterType !== "openshift") return [];
  return [
    {
      apiGroups: ["security.openshift.io"],
      resources: ["securitycontextconstraints"],
      resourceNames: ["privileged"],
      verbs: ["use"],
    },
  ];
}

/** For events about our own objects. */
export const eventRule: PolicyRule = {
  apiGroups: ["events.k8s.io"],
  resources: ["events"],
  verbs: ["create", "patch"],
};

/** The one SriovOperatorConfig that is honoured; a list or a watch has to select it by its name. */
export const readConfigRule: PolicyRule = {
  apiGroups: ["sriovnetwork.openshift.io"],
  resources: ["sriovoperatorconfigs"],
  resourceNames: [operatorConfigName],
  verbs: ["get", "list", "watch"],
};
