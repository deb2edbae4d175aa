// SPDX-License-Identifier: Apache-2.0
/** `switchyard render` prints the objects that the operator and ovn-offload would write. */
import { apiVersion, operatorConfigName, type SriovOperatorConfig } from "@switchyard/api";
import {
  componentImageVariables,
  componentKinds,
  isControlPlaneExternal,
  parseAdmissionPlacement,
  placementProblems,
  renderComponents,
  type CertificateSource,
  type ComponentImages,
  type ComponentSettings,
  type Manifest,
} from "@switchyard/render";
import { collectObjects, type ClusterObjects } from "../cluster/cluster-objects.ts";
import { isOfKind } from "../cluster/kinds.ts";
import { claimTemplateKind, renderClaims } from "../cluster/render-claims.ts";
import { compareRendered, nodeConfigKind, renderCluster, renderedKinds } from "../cluster/render-cluster.ts";
import { labelOf } from "../json.ts";
import { readInput } from "../input/read-input.ts";
import { printData, toYaml } from "../output/to-yaml.ts";
import { offloadCluster } from "../ovn-offload/offload-cluster.ts";
import { offloadKinds, renderOffload } from "../ovn-offload/render-offload.ts";
import { CliError, createDiagnostics, type Diagnostics, type Terminal } from "../terminal.ts";
import { printable } from "../text.ts";
import type { RunVerb } from "../verb.ts";

/** The kinds of the rendered objects. */
const deployedKinds: readonly string[] = Object.keys(componentKinds);

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

interface DeploymentOptions extends Pick<ComponentSettings, "namespace" | "resourcePrefix" | "clusterType"> {
  readonly env: Terminal["env"];
  readonly diagnostics: Diagnostics;
}

export const render: RunVerb = async ({ flags, terminal }) => {
  const { namespace, resourcePrefix, clusterType, output = "yaml" } = flags;
  const optional = [...(flags.manifests ? deployedKinds : []), ...(flags.claims ? [claimTemplateKind] : [])];
  const kinds = [...new Set([...renderedKinds, ...offloadKinds, ...optional])].sort();
  const unknown = flags.only.find((kind) => !kinds.includes(kind));
  if (unknown !== undefined) {
    const flag = deployedKinds.includes(unknown)
      ? "--manifests"
      : unknown === claimTemplateKind
        ? "--claims"
        : undefined;
    const hint = flag === undefined ? "" : `; ${unknown} requires ${flag}`;
    throw new CliError("usage", `--only: "${unknown}" must be one of ${kinds.join(", ")}${hint}`);
  }
  const diagnostics = createDiagnostics(terminal.stderr);
  const manifests = await readInput(flags, terminal, diagnostics);
  const given = collectObjects(manifests, { namespace, diagnostics });
  const common = { namespace, resourcePrefix, diagnostics };
  const { cluster, offload } = offloadCluster(given, { ...common, clusterType });
  const deployment = flags.manifests ? renderDeployment(cluster, { ...common, clusterType, env: terminal.env }) : [];
  const offloaded = offload === undefined ? [] : renderOffload(offload, cluster, common);
  const ofCluster = renderCluster(cluster, common);
  const wanted = ofCluster.filter((object) => isOfKind(object, "SriovNetworkNodeState"));
  const templates = flags.claims ? renderClaims(cluster, { manifests, wanted }, common) : [];
  const rendered = [...ofCluster, ...offloaded, ...deployment, ...templates].sort(compareRendered);
  const items = rendered.filter(({ kind }) => {
    return flags.only.length === 0 ? kind !== nodeConfigKind : flags.only.includes(kind);
  });

  if (output === "json") printData({ apiVersion: "v1", kind: "List", items }, output, terminal.stdout);
  else if (output === "yaml") terminal.stdout.write(items.map((item) => toYaml(item)).join("---\n"));
  else
    terminal.stdout.write(items.map(({ kind, metadata }) => `${printable(labelOf({ kind, ...metadata }))}\n`).join(""));
  return diagnostics.exitCode();
};

/**
 * renderDeployment renders the objects that the operator deploys for a cluster, by the function that the operator calls. The
 * operator's own settings are not known here, except for the images, which come from the same environment variables. An image
 * that is not set gets a placeholder. In the order in which the operator applies them. A component that cannot be deployed is
 * reported and left out.
 */
function renderDeployment(cluster: ClusterObjects, options: DeploymentOptions): readonly Manifest[] {
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
  for (const problem of placementProblems(components, cluster.nodes)) {
    diagnostics.note(`${labelOf({ kind, ...metadata })}: ${problem}`);
  }
  return components.flatMap(({ objects }) => objects);
}

/** The defaults of the operator, except for the images. */
function settingsOf({ nodes }: ClusterObjects, options: DeploymentOptions): ComponentSettings {
  const { namespace, resourcePrefix, clusterType, env } = options;
  const certificates: CertificateSource = { kind: clusterType === "openshift" ? "service-ca" : "self-made" };
  const given = Object.entries(componentImageVariables).map(([image, variable]) => [image, env[variable]] as const);
  return {
    namespace,
    resourcePrefix,
    clusterType,
    operatorServiceAccount: "switchyard-operator",
    isControlPlaneExternal: isControlPlaneExternal(nodes),
    images: { ...placeholders, ...Object.fromEntries(given.filter(([, reference]) => reference)) },
    imagePullSecrets: [],
    cniBinPath: "/var/lib/cni/bin",
    admissionPlacement: parseAdmissionPlacement(env["ADMISSION_CONTROLLERS_PLACEMENT"] ?? ""),
    webhook: { certificates, secretName: "operator-webhook-cert", port: 6443 },
    injector: { certificates, secretName: "network-resources-injector-cert", port: 6443 },
    tls: { cipherSuites: [], curvePreferences: [] },
    metricsExporter: { port: 9110 },
    useExternalDrainer: false,
    devMode: false,
    ovsdbSocketPath: env["OVSDB_SOCKET_PATH"] || undefined,
  };
}
