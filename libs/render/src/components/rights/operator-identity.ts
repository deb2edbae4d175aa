// SPDX-License-Identifier: Apache-2.0
/**
 * The operator's own service account and what it may do: what it does itself (operator-rules.ts), and all that it grants to
 * what it deploys, since nobody can grant what he may not do himself.
 * Usage: `operatorIdentity(settings)`; a chart installs them before the operator.
 */
import { operatorConfigName } from "@switchyard/api";
import { componentImageVariables, type ComponentSettings } from "../component-settings.ts";
import type { PolicyRule, Role, RoleBinding, ServiceAccount } from "../objects/kube-objects.ts";
import type { Manifest } from "../objects/manifest.ts";
import { clusterRules, namespaceRules, type OperatorRule } from "./operator-rules.ts";
import { renderComponents } from "../render-components.ts";

const rbac = "rbac.authorization.k8s.io";
const apiVersion = `${rbac}/v1` as const;

/** All have the name of the service account. */
export function operatorIdentity(settings: ComponentSettings): readonly Manifest[] {
  const { operatorServiceAccount: name, namespace } = settings;
  const labels = { "app.kubernetes.io/name": name };
  const subjects = [{ kind: "ServiceAccount", name, namespace }] as const;
  const grants = rolesOfComponents(settings);
  const account: ServiceAccount = { apiVersion: "v1", kind: "ServiceAccount", metadata: { name, namespace, labels } };

  function roleObjects(scope: "" | "Cluster", own: readonly OperatorRule[]): readonly [Role, RoleBinding] {
    const kind = `${scope}Role` as const;
    const metadata = scope === "" ? { name, namespace, labels } : { name, labels };
    const granted = grants.filter((role) => role.kind === kind).flatMap(({ rules }) => rules);
    const rules = distinct([...own.map(toPolicyRule), ...granted]);
    const roleRef = { apiGroup: rbac, kind, name } as const;
    return [
      { apiVersion, kind, metadata, rules },
      { apiVersion, kind: `${scope}RoleBinding`, metadata, roleRef, subjects },
    ];
  }

  return [account, ...roleObjects("", namespaceRules(settings)), ...roleObjects("Cluster", clusterRules(settings))];
}

/** Of all that can be asked for, now or later, in a cluster of this type. */
function rolesOfComponents(settings: ComponentSettings): readonly Role[] {
  const metadata = { name: operatorConfigName, namespace: settings.namespace };
  const spec = { enableInjector: true, enableOperatorWebhook: true, featureGates: { metricsExporter: true } };
  const { components } = renderComponents(
    { apiVersion: "sriovnetwork.openshift.io/v1", kind: "SriovOperatorConfig", metadata, spec },
    {
      ...settings,
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

function toPolicyRule({ group, resources, names, verbs }: OperatorRule): PolicyRule {
  return { apiGroups: [group], resources, ...(names !== undefined && { resourceNames: names }), verbs };
}

function distinct(rules: readonly PolicyRule[]): readonly PolicyRule[] {
  return [...new Map(rules.map((rule) => [JSON.stringify(rule), rule])).values()];
}
