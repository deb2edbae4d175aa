// SPDX-License-Identifier: Apache-2.0
/**
 * The values of the Go operator's chart ("upstream"), of all releases from 1.3.0 on and of the development after 1.6, and what
 * Switchyard's chart makes of each. docs/reference/upstream-values.md is generated from them. The integration test
 * e2e/integration/chart/upstream-values.test.ts compares the keys with those of the releases, and e2e/migration with the newest.
 */
import { code, table } from "../markdown.ts";

/** "same": the same effect. "translated": the same purpose, with the difference in `note`. "refused": `note` says which values. */
interface UpstreamValue {
  readonly path: string;
  readonly treatment: "same" | "translated" | "refused";
  /** At most 120 characters. Empty only for "same". */
  readonly note: string;
}

const same = (path: string, note = ""): UpstreamValue => ({ path, treatment: "same", note });
const translated = (path: string, note: string): UpstreamValue => ({ path, treatment: "translated", note });
const refused = (path: string, note: string): UpstreamValue => ({ path, treatment: "refused", note });

const ownImage = "upstream's names of images are refused; set it to a mirror of Switchyard's image, or remove it";
const noEffect = "no effect with both charts; the installation notes say so";
const certificates = "operator.admissionControllers.certificates";
const exporter = "operator.metricsExporter";
const defaultImage = "the default is a version with which Switchyard was tested";

/** In the order of upstream's values.yaml. */
const upstreamValues: readonly UpstreamValue[] = [
  translated(
    "operator.metricsBindAddress",
    'empty means :8080 (metrics.port), because metrics are on by default; "0" means off',
  ),
  same("operator.tolerations"),
  same("operator.nodeSelector"),
  same("operator.extraEnv", "also {valueFrom: ...}"),
  same("operator.tls.cipherSuites"),
  refused(
    "operator.tls.minVersion",
    "VersionTLS10 and VersionTLS11, which are not secure; VersionTLS12 and VersionTLS13 are taken",
  ),
  same("operator.tls.curvePreferences"),
  translated(
    "operator.affinity",
    "the default does not prefer the label master, which Kubernetes 1.30 does not set any more",
  ),
  same("operator.nameOverride", noEffect),
  same("operator.fullnameOverride", noEffect),
  same("operator.resourcePrefix", "must not change in the upgrade: running pods request resources by it"),
  same("operator.cniBinPath"),
  same("operator.clusterType"),
  same("operator.staleNodeStateCleanupDelayMinutes"),
  same(`${exporter}.port`),
  same(`${exporter}.certificates.secretName`),
  same(`${exporter}.prometheusOperator.enabled`),
  same(`${exporter}.prometheusOperator.serviceAccount`),
  same(`${exporter}.prometheusOperator.namespace`),
  same(`${exporter}.prometheusOperator.deployRules`),
  same("operator.externalDrainer.enabled"),
  same("operator.admissionControllers.enabled"),
  same("operator.admissionControllers.networkPolicy.operator.port"),
  same("operator.admissionControllers.networkPolicy.injector.port"),
  same(`${certificates}.secretNames.operator`),
  same(`${certificates}.secretNames.injector`),
  same(`${certificates}.certManager.enabled`, "not together with custom.enabled"),
  same(`${certificates}.certManager.generateSelfSigned`),
  translated(
    `${certificates}.custom.enabled`,
    "without it and cert-manager, the operator creates and renews certificates",
  ),
  same("sriovOperatorConfig.deploy", "the SriovOperatorConfig stays if it becomes false later"),
  same("sriovOperatorConfig.configDaemonNodeSelector"),
  same("sriovOperatorConfig.logLevel", "also as a text, as --set-string gives it"),
  same("sriovOperatorConfig.disableDrain", "also as a text"),
  same("sriovOperatorConfig.configurationMode"),
  same("sriovOperatorConfig.disablePlugins"),
  same("sriovOperatorConfig.featureGates", "gates that do not exist are refused"),
  same("sriovOperatorConfig.configDaemonEnvVars", "also numbers and booleans"),
  same("supportedExtraNICs", "also as maps"),
  refused("images.operator", ownImage),
  refused("images.sriovConfigDaemon", ownImage),
  same("images.sriovCni", defaultImage),
  same("images.ibSriovCni", defaultImage),
  same("images.ovsCni", defaultImage),
  same("images.rdmaCni", defaultImage),
  same("images.sriovDevicePlugin", defaultImage),
  same("images.resourcesInjector", defaultImage),
  refused("images.webhook", ownImage),
  same("images.metricsExporter", defaultImage),
  same("images.metricsExporterKubeRbacProxy", defaultImage),
  same("imagePullSecrets", "also as {name: NAME}"),
  same("extraDeploy", "also a map as upstream's examples have it"),
];

export function upstreamValuesPage(): string {
  return [
    "# Values of the Go operator's chart",
    "What Switchyard's chart makes of each value of the chart `sriov-network-operator-chart`, from its release 1.3.0 to the " +
      "development after 1.6. The [upgrade guide](../guide/upgrade.md) says how to keep the values. Values that neither chart " +
      "has change nothing with both; the notes that Helm prints name them.",
    table(
      ["Value", "With Switchyard", "What to know"],
      upstreamValues.map(({ path, treatment, note }) => [code(path), treatment, note]),
    ),
  ].join("\n\n");
}
