// SPDX-License-Identifier: Apache-2.0
/**
 * renderDeployment renders the objects that the operator deploys for a cluster, by the function that the operator calls. The
 * operator's own settings are not known here, except for the images, which come from the same environment variables. An
 * image that is not set gets a placeholder.
 * Usage: `const items = renderDeployment(cluster, { namespace, resourcePrefix, clusterType, env, diagnostics })`.
 */
import { apiVersion, operatorConfigName, type SriovOperatorConfig } from "@switchyard/api";
import {
  componentImageVariables,
  componentKinds,
  isControlPlaneExternal,
  renderComponents,
  type CertificateSource,
  type ComponentImages,
  type ComponentSettings,
  type Manifest,
} from "@switchyard/render";
import type { Diagnostics } from "../diagnostics.ts";
import { labelOf } from "../input/manifest.ts";
import type { Terminal } from "../terminal.ts";
import type { ClusterObjects } from "./cluster-objects.ts";

/** The kinds of the rendered objects. */
export const deployedKinds: readonly string[] = Object.keys(componentKinds);

export interface DeploymentOptions extends Pick<ComponentSettings, "namespace" | "resourcePrefix" | "clusterType"> {
  readonly env: Terminal["env"];
  readonly diagnostics: Diagnostics;
}

/** Placeholders of the images that every deployment needs. */
const placeholders: ComponentImages = {
  configDaemon: "switchyard/config-daemon",
  devicePluginConfig: "switchyard/device-plugin-config",
  afxdpDevicePlugin: "switchyard/afxdp-device-plugin",
  afxdpPlugins: "afxdp-plugins-for-kubernetes",
  webhook: "switchyard/webhook",
  devicePlugin: "sriov-network-device-plugin",
  injector: "network-resources-injector",
  metricsExporter: "sriov-network-metrics-exporter",
  sriovCni: "sriov-cni",
  ibSriovCni: "ib-sriov-cni",
};

/** In the order in which the operator applies them. A component that cannot be deployed is reported and left out. */
export function renderDeployment(cluster: ClusterObjects, options: DeploymentOptions): readonly Manifest[] {
  const { namespace, diagnostics } = options;
  const metadata = { name: operatorConfigName, namespace };
  const afxdp = cluster.afxdp.operatorConfig;
  const byDefault: SriovOperatorConfig = { apiVersion, kind: "SriovOperatorConfig", metadata };
  const sriov = cluster.operatorConfig ?? (afxdp === undefined ? byDefault : undefined);
  const { components, problems } = renderComponents({ sriov, afxdp }, settingsOf(cluster, options));
  const kind = sriov === undefined ? "AfxdpOperatorConfig" : sriov.kind;
  for (const { severity, field, message } of problems) {
    const line = `${labelOf({ kind, ...metadata })}: ${field}: ${message}`;
    if (severity === "error") diagnostics.report(line);
    else diagnostics.note(line);
  }
  return components.flatMap(({ objects }) => objects);
}

/** The defaults of the operator, except for the images. */
function settingsOf({ nodes }: ClusterObjects, options: DeploymentOptions): ComponentSettings {
  const { namespace, resourcePrefix, clusterType, env } = options;
  const certificates: CertificateSource = { kind: clusterType === "openshift" ? "service-ca" : "self-made" };
  const given = Object.entries(componentImageVariables).map(([image, variable]) => [image, env[variable]] as const);
  return {
    ...{ namespace, resourcePrefix, clusterType },
    operatorServiceAccount: "switchyard-operator",
    isControlPlaneExternal: isControlPlaneExternal(nodes),
    images: { ...placeholders, ...Object.fromEntries(given.filter(([, reference]) => reference)) },
    imagePullSecrets: [],
    cniBinPath: "/var/lib/cni/bin",
    webhook: { certificates, secretName: "operator-webhook-cert", port: 6443 },
    injector: { certificates, secretName: "network-resources-injector-cert", port: 6443 },
    tls: { cipherSuites: [], curvePreferences: [] },
    metricsExporter: { port: 9110 },
    ...{ useExternalDrainer: false, devMode: false },
  };
}
