// SPDX-License-Identifier: Apache-2.0
/**
 * renderComponents renders everything that the operator deploys, from the SriovOperatorConfig, the AfxdpOperatorConfig and
 * the operator's settings (sriov-operator.md H). Apply the objects by server-side apply, so that fields that are no longer
 * rendered are removed from the cluster (sriov-operator.md M-49).
 * Usage: `const { components, problems } = renderComponents({ sriov, afxdp }, settings);`
 */
import {
  afxdpOperatorConfigs,
  defined,
  operatorConfigName,
  sriovOperatorConfigs,
  type AfxdpOperatorConfig,
  type ObjectMeta,
  type OwnerReference,
  type ResourceType,
  type SriovOperatorConfig,
  type SriovOperatorConfigSpec,
} from "@switchyard/api";
import { featureGateDefaults, isGateOn, noClaims } from "@switchyard/policy";
import type { Component, ComponentInput } from "./component.ts";
import { componentImageVariables, type ComponentImageName, type ComponentSettings } from "./component-settings.ts";
import { afxdpDevicePlugin } from "./node/afxdp-device-plugin.ts";
import { afxdpPlugins } from "./node/afxdp-plugins.ts";
import { configDaemon } from "./node/config-daemon.ts";
import { devicePlugin } from "./node/device-plugin.ts";
import { draDriver } from "./node/dra-driver.ts";
import { metricsExporter } from "./node/metrics-exporter.ts";
import { networkResourcesInjector } from "./servers/network-resources-injector.ts";
import { nodeIdentity } from "./rights/node-identity.ts";
import { operatorWebhook } from "./servers/operator-webhook.ts";
import {
  componentNames,
  type ComponentName,
  type ComponentProblem,
  type RenderedComponent,
  type RenderedComponents,
} from "./rendered-components.ts";
import { tlsWarnings } from "./servers/tls-flags.ts";

const components: Readonly<Record<ComponentName, Component>> = {
  "node-identity": nodeIdentity,
  "operator-webhook": operatorWebhook,
  "network-resources-injector": networkResourcesInjector,
  "config-daemon": configDaemon,
  "device-plugin": devicePlugin,
  "dra-driver": draDriver,
  "afxdp-device-plugin": afxdpDevicePlugin,
  "afxdp-plugins": afxdpPlugins,
  "metrics-exporter": metricsExporter,
};

/** The configs named "default" of the operator's namespace, as far as they exist. */
export interface OperatorConfigs {
  readonly sriov?: SriovOperatorConfig | undefined;
  readonly afxdp?: AfxdpOperatorConfig | undefined;
}

/**
 * Renders all components. Without `afxdp`, those for AF_XDP are disabled. With `afxdp` only, what AF_XDP needs is deployed, and
 * with neither, nothing. `sriov`, or else `afxdp`, owns the namespaced objects if it has a uid. It cannot own cluster-scoped
 * objects; the caller finds them through componentInventory.
 */
export function renderComponents(configs: OperatorConfigs, settings: ComponentSettings): RenderedComponents {
  const input = inputOf(configs, settings);
  if (input === undefined) return { components: componentNames.map(disabled), problems: [] };
  const { config } = input;
  const rendered = componentNames.map((name) => renderComponent(components[name], input));
  return {
    components: rendered.map(({ component }) => component),
    problems: [
      ...unknownGates(config),
      ...unservedClaims(config, settings),
      ...unusableTls(settings),
      ...rendered.flatMap(({ problems }) => problems),
    ],
  };
}

function inputOf({ sriov, afxdp }: OperatorConfigs, settings: ComponentSettings): ComponentInput | undefined {
  if (sriov !== undefined) {
    return { config: sriov, hasSriov: true, afxdp, settings, owner: ownerOf(sriov, sriovOperatorConfigs) };
  }
  if (afxdp === undefined) return undefined;
  const { group, version, kind } = sriovOperatorConfigs;
  const { metadata } = afxdp;
  const config: SriovOperatorConfig = {
    apiVersion: `${group}/${version}`,
    kind,
    metadata,
    ...defined({ spec: componentSpec({ afxdp }) }),
  };
  return { config, hasSriov: false, afxdp, settings, owner: ownerOf(afxdp, afxdpOperatorConfigs) };
}

/**
 * Returns the spec that decides what is deployed: that of the SriovOperatorConfig or, without one, what the AfxdpOperatorConfig
 * says of it. Undefined if neither exists.
 */
export function componentSpec({ sriov, afxdp }: OperatorConfigs): SriovOperatorConfigSpec | undefined {
  if (sriov !== undefined) return sriov.spec ?? {};
  if (afxdp === undefined) return undefined;
  const { configDaemonNodeSelector = {}, enableOperatorWebhook = false } = afxdp.spec ?? {};
  return { configDaemonNodeSelector, enableOperatorWebhook };
}

function ownerOf(config: { readonly metadata: ObjectMeta }, type: ResourceType): OwnerReference | undefined {
  const { uid } = config.metadata;
  const { group, version, kind } = type;
  const is = { controller: true, blockOwnerDeletion: true };
  return uid ? { apiVersion: `${group}/${version}`, kind, name: operatorConfigName, uid, ...is } : undefined;
}

function disabled(name: ComponentName): RenderedComponent {
  return { name, state: "disabled", objects: [] };
}

interface Rendered {
  readonly component: RenderedComponent;
  readonly problems: readonly ComponentProblem[];
}

function renderComponent(component: Component, input: ComponentInput): Rendered {
  const { name } = component;
  if (!component.isWanted(input)) return { component: disabled(name), problems: [] };
  const missing = component.needs.filter((image) => !input.settings.images[image]);
  const problems = [...(component.check?.(input) ?? []), ...missing.map((image) => withoutImage(image, component))].map(
    (problem) => ({ component: name, ...problem }),
  );
  if (problems.some(({ severity }) => severity === "error")) {
    return { component: { name, state: "failed", objects: [] }, problems };
  }
  return { component: { name, state: "deployed", objects: component.render(input) }, problems };
}

function withoutImage(image: ComponentImageName, { field = "spec" }: Component): Omit<ComponentProblem, "component"> {
  const variable = componentImageVariables[image];
  const message = `cannot be deployed, because the operator's environment variable ${variable} is not set`;
  return { severity: "error", field, message };
}

/** The driver is not wanted then, so it cannot report this itself. */
function unservedClaims(config: SriovOperatorConfig, { lacksClaims }: ComponentSettings): readonly ComponentProblem[] {
  if (lacksClaims !== true || !isGateOn("dynamicResourceAllocation", config)) return [];
  const field = "spec.featureGates.dynamicResourceAllocation";
  return [{ component: "dra-driver", severity: "warning", field, message: noClaims }];
}

/** The settings apply to all servers, so each problem is reported once. */
function unusableTls({ tls }: ComponentSettings): readonly ComponentProblem[] {
  return tlsWarnings(tls).map((warning) => ({ component: "operator-webhook", severity: "warning", ...warning }));
}

/** The API accepts unknown gates, because other releases may have them. A warning helps to find typing errors. */
function unknownGates({ spec }: SriovOperatorConfig): readonly ComponentProblem[] {
  return Object.keys(spec?.featureGates ?? {})
    .filter((gate) => !Object.hasOwn(featureGateDefaults, gate))
    .map((gate) => ({
      component: "config-daemon" as const,
      severity: "warning" as const,
      field: `spec.featureGates.${gate}`,
      message: `is not a feature gate of this release; known gates are ${Object.keys(featureGateDefaults).join(", ")}`,
    }));
}
