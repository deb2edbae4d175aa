// SPDX-License-Identifier: Apache-2.0
/**
 * OperatorSettings are the settings from flags and environment variables. They do not change while the operator runs.
 */
import { parseStaleDelayMs } from "@switchyard/policy";
import type { CertificateSource, ComponentSettings } from "@switchyard/render";
import type { CommonValues } from "@switchyard/service";
import type { OperatorFlagValues } from "./operator-flags.ts";

export interface OperatorSettings {
  /** Namespace of the operator, its components and its SriovOperatorConfig, policies and pools. */
  readonly namespace: string;
  /** Prefix of resource names, the part before the slash: "openshift.io". */
  readonly resourcePrefix: string;
  readonly clusterType: "kubernetes" | "openshift";
  /** Age beyond which controllers do not use a cache. */
  readonly maxCacheAgeMs: number;
  /** How long the state of a node that left the node set is kept. */
  readonly staleDelayMs: number;
  /** Settings of the deployed components, besides the SriovOperatorConfig. */
  readonly components: ComponentSettings;
  /** Whether to write upstream's ConfigMap with the device plugin's configuration of each node. */
  readonly writeConfigMap: boolean;
}

export function readOperatorSettings(
  flags: OperatorFlagValues & Pick<CommonValues, "namespace" | "maxCacheAge" | "metricsSecure">,
): OperatorSettings {
  const { namespace, resourcePrefix, clusterType, maxCacheAge: maxCacheAgeMs } = flags;
  return {
    namespace,
    resourcePrefix,
    clusterType,
    maxCacheAgeMs,
    staleDelayMs: parseStaleDelayMs(flags.staleNodeStateCleanupDelayMinutes),
    components: readComponentSettings(flags),
    writeConfigMap: flags.writeConfigmap,
  };
}

function readComponentSettings(flags: Parameters<typeof readOperatorSettings>[0]): ComponentSettings {
  const { namespace, resourcePrefix, clusterType, useExternalDrainer, devMode, cniBinPath, ovsdbSocketPath } = flags;
  return {
    namespace,
    resourcePrefix,
    clusterType,
    useExternalDrainer,
    devMode,
    cniBinPath,
    kubeletDirectory: flags.kubeletDirectory,
    attachesNetworks: flags.attachNetworks,
    ovsdbSocketPath,
    imagePullSecrets: flags.imagePullSecrets ?? [],
    operatorServiceAccount: flags.serviceAccount,
    images: {
      configDaemon: flags.configDaemonImage,
      devicePluginConfig: flags.devicePluginConfigImage,
      draDriver: flags.draDriverImage,
      afxdpDevicePlugin: flags.afxdpDevicePluginImage,
      afxdpPlugins: flags.afxdpPluginsImage,
      webhook: flags.webhookImage,
      devicePlugin: flags.devicePluginImage,
      injector: flags.injectorImage,
      metricsExporter: flags.metricsExporterImage,
      kubeRbacProxy: flags.kubeRbacProxyImage,
      sriovCni: flags.sriovCniImage,
      ibSriovCni: flags.ibSriovCniImage,
      ovsCni: flags.ovsCniImage,
      rdmaCni: flags.rdmaCniImage,
      acceleratedBridgeCni: flags.acceleratedBridgeCniImage,
    },
    admissionPlacement: flags.admissionPlacement,
    webhook: {
      certificates: certificateSource(flags, flags.webhookCa),
      secretName: flags.webhookSecret,
      port: flags.webhookPort,
    },
    injector: {
      certificates: certificateSource(flags, flags.injectorCa),
      secretName: flags.injectorSecret,
      port: flags.injectorPort,
    },
    hasSecureMetrics: flags.metricsSecure,
    tls: {
      minVersion: flags.tlsMinVersion,
      cipherSuites: flags.tlsCipherSuites ?? [],
      curvePreferences: flags.tlsCurvePreferences ?? [],
    },
    metricsExporter: {
      port: flags.metricsExporterPort,
      secretName: flags.metricsExporterSecret,
      prometheusOperator: flags.prometheusOperator
        ? {
            serviceAccount: flags.prometheusServiceAccount,
            namespace: flags.prometheusNamespace,
            deployRules: flags.prometheusRules,
          }
        : undefined,
    },
  };
}

/**
 * Returns the issuer of a certificate, in upstream's order of precedence. Without any, upstream has no certificate;
 * this operator issues one.
 */
function certificateSource(
  { clusterType, certManager }: Pick<OperatorFlagValues, "clusterType" | "certManager">,
  authority: string | undefined,
): CertificateSource {
  if (clusterType === "openshift") return { kind: "service-ca" };
  if (certManager) return { kind: "cert-manager" };
  return authority === undefined ? { kind: "self-made" } : { kind: "given", caBundle: toBase64(authority) };
}

/** Upstream expects PEM in base64, which is base64 twice in a Secret. Plain PEM is accepted, too. */
function toBase64(authority: string): string {
  return authority.includes("-----BEGIN") ? Buffer.from(authority).toString("base64") : authority.trim();
}
