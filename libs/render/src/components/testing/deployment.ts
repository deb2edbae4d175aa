// SPDX-License-Identifier: Apache-2.0
/** Configs and settings for tests, and functions that return parts of the rendered objects. */
import type {
  AfxdpOperatorConfig,
  AfxdpOperatorConfigSpec,
  SriovOperatorConfig,
  SriovOperatorConfigSpec,
} from "@switchyard/api";
import { componentImageVariables, type ComponentSettings } from "../component-settings.ts";
import type { DaemonSet, Manifest } from "../objects/kube-objects.ts";
import type { Container, EnvVar, PodTemplate } from "../objects/pod-template.ts";
import { renderComponents } from "../render-components.ts";
import type { ComponentName } from "../rendered-components.ts";

/** Returns settings with all images, with certificates that the operator creates. */
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

/** Returns a stored SriovOperatorConfig. */
export function configWith(spec: SriovOperatorConfigSpec = {}): SriovOperatorConfig {
  const metadata = { name: "default", namespace: "sriov", uid: "uid-1" };
  return { apiVersion: "sriovnetwork.openshift.io/v1", kind: "SriovOperatorConfig", metadata, spec };
}

/** Returns a stored AfxdpOperatorConfig. */
export function afxdpConfigWith(spec: AfxdpOperatorConfigSpec = {}): AfxdpOperatorConfig {
  const metadata = { name: "default", namespace: "sriov", uid: "uid-2" };
  return { apiVersion: "afxdpnetwork.hns.dev/v1alpha1", kind: "AfxdpOperatorConfig", metadata, spec };
}

/** Enables all components, except those for AF_XDP. */
export const everyComponent: SriovOperatorConfigSpec = {
  enableInjector: true,
  enableOperatorWebhook: true,
  featureGates: { metricsExporter: true },
};

/** Returns the objects of a component while all components are enabled, also the one for AF_XDP. */
export function objectsOf(
  name: ComponentName,
  spec: SriovOperatorConfigSpec = {},
  overrides: Partial<ComponentSettings> = {},
  afxdp = afxdpConfigWith({ provider: name === "afxdp-plugins" ? "upstream" : "switchyard" }),
): readonly Manifest[] {
  const config = configWith({
    ...everyComponent,
    ...spec,
    featureGates: { ...everyComponent.featureGates, ...spec.featureGates },
  });
  const settings = settingsWith({ usesClaims: name === "dra-driver", ...overrides });
  const { components } = renderComponents({ sriov: config, afxdp }, settings);
  return components.find((component) => component.name === name)?.objects ?? [];
}

/** Returns the pod template of the component's DaemonSet. Takes the arguments of objectsOf. */
export function podOf(...of: Parameters<typeof objectsOf>): PodTemplate {
  const found = objectsOf(...of).find(isDaemonSet);
  if (found === undefined) throw new RangeError(`${of[0]} has no DaemonSet`);
  return found.spec.template;
}

/** Returns a container or init container by name. */
export function containerOf({ spec }: PodTemplate, name: string): Container {
  const found = [...(spec.initContainers ?? []), ...spec.containers].find((container) => container.name === name);
  if (found === undefined) throw new RangeError(`no container ${name}`);
  return found;
}

/** Returns the container's environment variables. The value of a variable from a field is the path of the field. */
export function envOf({ env = [] }: Container): Readonly<Record<string, string>> {
  const valueOf = (variable: EnvVar) =>
    "valueFrom" in variable ? variable.valueFrom.fieldRef.fieldPath : (variable.value ?? "");
  return Object.fromEntries(env.map((variable) => [variable.name, valueOf(variable)]));
}

/** Reports whether the object is a DaemonSet. */
export function isDaemonSet(object: Manifest): object is DaemonSet {
  return object.kind === "DaemonSet";
}
