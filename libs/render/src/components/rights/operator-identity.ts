// SPDX-License-Identifier: Apache-2.0
/**
 * operatorIdentity returns the operator's service account, roles and role bindings, and the admission policy that limits the
 * Secrets that it may write (operator-secret-limit.ts). The roles have the rights that the operator uses itself
 * (operator-rules.ts), and all rights that it grants to the components. Kubernetes does not allow a client to grant
 * rights that it does not have. They must be installed before the operator.
 * Usage: `operatorIdentity(settings)`.
 */
import { operatorConfigName } from "@switchyard/api";
import { componentImageVariables, type ComponentSettings } from "../component-settings.ts";
import type { Manifest, RbacRule, Role, RoleBinding, ServiceAccount } from "../objects/kube-objects.ts";
import { renderComponents } from "../render-components.ts";
import { clusterRules, namespaceRules } from "./operator-rules.ts";
import { operatorSecretLimit } from "./operator-secret-limit.ts";
import { toRbacRule, type RuleWithReason } from "./access.ts";

const rbac = "rbac.authorization.k8s.io";
const apiVersion = `${rbac}/v1` as const;

/** Returns the objects, with the policy first. Account, roles and bindings have the name of the service account. */
export function operatorIdentity(settings: ComponentSettings): readonly Manifest[] {
  const { operatorServiceAccount: name, namespace } = settings;
  const labels = { "app.kubernetes.io/name": name };
  const subjects = [{ kind: "ServiceAccount", name, namespace }] as const;
  const grants = rolesOfComponents(settings);
  const account: ServiceAccount = { apiVersion: "v1", kind: "ServiceAccount", metadata: { name, namespace, labels } };

  function roleObjects(scope: "" | "Cluster", own: readonly RuleWithReason[]): readonly [Role, RoleBinding] {
    const kind = `${scope}Role` as const;
    const metadata = scope === "" ? { name, namespace, labels } : { name, labels };
    const granted = grants.filter((role) => role.kind === kind).flatMap(({ rules }) => rules);
    const rules = distinct([...own.map(toRbacRule), ...granted]);
    const roleRef = { apiGroup: rbac, kind, name } as const;
    return [
      { apiVersion, kind, metadata, rules },
      { apiVersion, kind: `${scope}RoleBinding`, metadata, roleRef, subjects },
    ];
  }

  return [
    ...operatorSecretLimit(settings),
    account,
    ...roleObjects("", namespaceRules(settings)),
    ...roleObjects("Cluster", clusterRules(settings)),
  ];
}

/** Returns the roles of all components that can be enabled in a cluster of this type. */
function rolesOfComponents(settings: ComponentSettings): readonly Role[] {
  const metadata = { name: operatorConfigName, namespace: settings.namespace };
  const spec = { enableInjector: true, enableOperatorWebhook: true, featureGates: { metricsExporter: true } };
  const { components } = renderComponents(
    {
      sriov: { apiVersion: "sriovnetwork.openshift.io/v1", kind: "SriovOperatorConfig", metadata, spec },
      afxdp: { apiVersion: "afxdpnetwork.hns.dev/v1alpha1", kind: "AfxdpOperatorConfig", metadata },
    },
    {
      ...settings,
      usesClaims: true,
      hasSecureMetrics: true,
      images: Object.fromEntries(Object.keys(componentImageVariables).map((image) => [image, image])),
      metricsExporter: {
        ...settings.metricsExporter,
        prometheusOperator: { serviceAccount: "prometheus-k8s", namespace: "monitoring", deployRules: true },
      },
    },
  );
  return components.flatMap(({ objects }) => objects.filter(isRole));
}

function isRole(object: Manifest): object is Role {
  return object.kind === "Role" || object.kind === "ClusterRole";
}

function distinct(rules: readonly RbacRule[]): readonly RbacRule[] {
  return [...new Map(rules.map((rule) => [JSON.stringify(rule), rule])).values()];
}
