// SPDX-License-Identifier: Apache-2.0
/**
 * ovnOffloadIdentity returns the service account of ovn-offload and its rights. `reading` is what it needs to run and to report,
 * `writing` what it needs to configure hosts. `limits` are the admission policies that limit `writing`, and must exist before.
 * Usage: `const { reading, limits, writing } = ovnOffloadIdentity(settings);`
 */
import type { Manifest, Role, RoleBinding, ServiceAccount } from "../../components/objects/kube-objects.ts";
import { toRbacRule, type RuleWithReason } from "../../components/rights/access.ts";
import { ovnOffloadLimits } from "./offload-limits.ts";
import { readingRules, writingRules, type OvnOffloadIdentitySettings, type RulesByScope } from "./offload-rules.ts";

export interface OvnOffloadIdentity {
  readonly reading: readonly Manifest[];
  readonly limits: readonly Manifest[];
  readonly writing: readonly Manifest[];
}

/** The objects are in the order in which they must be applied. */
export function ovnOffloadIdentity(settings: OvnOffloadIdentitySettings): OvnOffloadIdentity {
  const { namespace, serviceAccount: name } = settings;
  const account: ServiceAccount = { apiVersion: "v1", kind: "ServiceAccount", metadata: { name, namespace } };
  return {
    reading: [account, ...rolesOf(name, readingRules(settings), settings)],
    limits: ovnOffloadLimits(settings),
    writing: rolesOf(`${name}-write`, writingRules(settings), settings),
  };
}

const rbac = "rbac.authorization.k8s.io";
const apiVersion = `${rbac}/v1` as const;

function rolesOf(
  name: string,
  { inCluster, inNamespaces }: RulesByScope,
  { namespace, serviceAccount }: OvnOffloadIdentitySettings,
): readonly Manifest[] {
  const subjects = [{ kind: "ServiceAccount", name: serviceAccount, namespace }] as const;

  function roleObjects(
    scope: "" | "Cluster",
    own: readonly RuleWithReason[],
    metadata: Manifest["metadata"],
  ): readonly [Role, RoleBinding] {
    const kind = `${scope}Role` as const;
    const roleRef = { apiGroup: rbac, kind, name: metadata.name } as const;
    return [
      { apiVersion, kind, metadata, rules: own.map(toRbacRule) },
      { apiVersion, kind: `${scope}RoleBinding`, metadata, roleRef, subjects },
    ];
  }

  return [
    ...roleObjects("Cluster", inCluster, { name }),
    ...inNamespaces.flatMap(({ namespace: at, suffix = "", rules }) =>
      roleObjects("", rules, { name: `${name}${suffix}`, namespace: at }),
    ),
  ];
}
