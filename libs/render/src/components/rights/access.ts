// SPDX-License-Identifier: Apache-2.0
/**
 * accessObjects returns the service account of a component's process, with roles and role bindings. A role without
 * rules is omitted.
 */
import { defined, operatorConfigName } from "@switchyard/api";
import { clusterScoped, namespaced, type ComponentInput } from "../component.ts";
import type { Manifest, RbacRule, Role, RoleBinding, ServiceAccount } from "../objects/kube-objects.ts";
import type { ComponentName } from "../rendered-components.ts";

/** A service account and its rights. */
interface Access {
  readonly serviceAccount: string;
  /** Rights in the operator's namespace. */
  readonly inNamespace?: RoleSpec;
  /** Rights in the whole cluster. */
  readonly inCluster?: RoleSpec;
}

/** Names and rules of a role and its binding. */
interface RoleSpec {
  readonly role: string;
  readonly binding: string;
  readonly rules: readonly RbacRule[];
}

const apiVersion = "rbac.authorization.k8s.io/v1";
const apiGroup = "rbac.authorization.k8s.io";

/** Returns the objects in the order in which they must be applied. */
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

/** Returns the rule that privileged pods require on OpenShift; empty on other clusters. */
export function privilegedRules({ settings }: ComponentInput): readonly RbacRule[] {
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

/**
 * The rights of the device plugin for AF_XDP: it reads the state of its own node and writes a part of its status; node-identity.ts limits
 * both to that node.
 */
export const afxdpPluginRules: readonly RbacRule[] = [
  { apiGroups: ["afxdpnetwork.hns.dev"], resources: ["afxdpnetworknodestates"], verbs: ["get", "list", "watch"] },
  { apiGroups: ["afxdpnetwork.hns.dev"], resources: ["afxdpnetworknodestates/status"], verbs: ["patch"] },
];

/** The right to write events about objects in the operator's namespace. */
export const eventRule: RbacRule = {
  apiGroups: ["events.k8s.io"],
  resources: ["events"],
  verbs: ["create", "patch"],
};

/** The right to read the SriovOperatorConfig "default". A list or watch request must select it by name. */
export const readConfigRule: RbacRule = {
  apiGroups: ["sriovnetwork.openshift.io"],
  resources: ["sriovoperatorconfigs"],
  resourceNames: [operatorConfigName],
  verbs: ["get", "list", "watch"],
};

/** The right to read the AfxdpOperatorConfig "default". */
export const readAfxdpConfigRule: RbacRule = {
  ...readConfigRule,
  apiGroups: ["afxdpnetwork.hns.dev"],
  resources: ["afxdpoperatorconfigs"],
};

/**
 * RuleWithReason is a rule of a Role or ClusterRole that states why its owner needs it.
 * A right and the reason for it.
 */
export interface RuleWithReason {
  readonly why: string;
  /** API group; "" is the core group. */
  readonly group: string;
  readonly resources: readonly string[];
  readonly names?: readonly string[];
  readonly verbs: readonly string[];
}

export function toRbacRule({ group, resources, names, verbs }: RuleWithReason): RbacRule {
  return { apiGroups: [group], resources, ...defined({ resourceNames: names }), verbs };
}
