// SPDX-License-Identifier: Apache-2.0
/**
 * Configs and settings for tests, and ways to look into what becomes of them.
 * Usage: `const [daemon] = podsOf("config-daemon", { useCDI: true });`
 */
import type { SriovOperatorConfig, SriovOperatorConfigSpec } from "@switchyard/api";
import { componentImageVariables, type ComponentSettings } from "../component-settings.ts";
import type { DaemonSet } from "../objects/kube-objects.ts";
import type { Manifest } from "../objects/manifest.ts";
import type { Container, EnvVar, PodTemplate } from "../objects/pod-template.ts";
import { renderComponents } from "../render-components.ts";
import type { ComponentName } from "../rendered-components.ts";

/** Every image is there; of certificates nobody takes care but we. */
export function settingsWith(overrides: Partial<ComponentSettings> = {}): ComponentSettings {
  return {
    namespace: "sriov",
    resourcePrefix: "openshift.io",
    clusterType: "kubernetes",
    operatorServiceAccount: "switchyard-operator",
    images: Object.fromEntries(Object.keys(componentImageVariables).map((name) => [name, `${name}:1`])),
    imagePullSecrets: [],
    cniBinPath: "/opt/cni/bin",
    webhook: { certificates: { kind: "self-made" }, secretName: "operator-webhook-cert", port: 6443 },
    injector: { certificates: { kind: "self-made" }, secretName: "network-resources-injector-cert", port: 6443 },
    tls: { cipherSuites: [], curvePreferences: [] },
    metricsExporter: { port: 9110 },
    useExternalDrainer: false,
    devMode: false,
    ...overrides,
  };
}

/** As it is stored. */
export function configWith(spec: SriovOperatorConfigSpec = {}): SriovOperatorConfig {
  const metadata = { name: "default", namespace: "sriov", uid: "uid-1" };
  return { apiVersion: "sriovnetwork.openshift.io/v1", kind: "SriovOperatorConfig", metadata, spec };
}

export const everyComponent: SriovOperatorConfigSpec = {
  enableInjector: true,
  enableOperatorWebhook: true,
  featureGates: { metricsExporter: true },
};

/** What a component becomes where everything is asked for. */
export function objectsOf(
  name: ComponentName,
  spec: SriovOperatorConfigSpec = {},
  overrides: Partial<ComponentSettings> = {},
): readonly Manifest[] {
  const config = configWith({
    ...everyComponent,
    ...spec,
    featureGates: { ...everyComponent.featureGates, ...spec.featureGates },
  });
  const { components } = renderComponents(config, settingsWith(overrides));
  return components.find((component) => component.name === name)?.objects ?? [];
}

/** The pod template of its DaemonSet. */
export function podOf(...of: Parameters<typeof objectsOf>): PodTemplate {
  const found = objectsOf(...of).find(isDaemonSet);
  if (found === undefined) throw new RangeError(`${of[0]} has no DaemonSet`);
  return found.spec.template;
}

/** One of its containers or init containers. */
export function containerOf({ spec }: PodTemplate, name: string): Container {
  const found = [...(spec.initContainers ?? []), ...spec.containers].find((container) => container.name === name);
  if (found === undefined) throw new RangeError(`no container ${name}`);
  return found;
}

/** Its variables; those that come from the pod's fields with the field's path. */
export function envOf({ env = [] }: Container): Readonly<Record<string, string>> {
  const valueOf = (variable: EnvVar) =>
    "valueFrom" in variable ? variable.valueFrom.fieldRef.fieldPath : (variable.value ?? "");
  return Object.fromEntries(env.map((variable) => [variable.name, valueOf(variable)]));
}

export function isDaemonSet(object: Manifest): object is DaemonSet {
  return object.kind === "DaemonSet";
}
