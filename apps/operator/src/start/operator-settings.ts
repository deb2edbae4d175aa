// SPDX-License-Identifier: Apache-2.0
/**
 * How this operator was started: what its flags and environment say, the same until it ends.
 * Usage: `const settings = readOperatorSettings(flags);`
 */
import { parseStaleDelayMs } from "@switchyard/policy";
import type { CertificateSource, ComponentSettings } from "@switchyard/render";
import type { CommonValues } from "@switchyard/service";
import type { OperatorFlagValues } from "./operator-flags.ts";

export interface OperatorSettings {
  /** Ours: our own kinds are honoured here, and what we run is here. */
  readonly namespace: string;
  /** Before the slash of a resource's full name: "openshift.io". */
  readonly resourcePrefix: string;
  readonly clusterType: "kubernetes" | "openshift";
  /** Beyond this age nothing is done by what a cache says. */
  readonly maxCacheAgeMs: number;
  /** How long the state of a node that left is kept. */
  readonly staleDelayMs: number;
  /** What decides what is deployed, beside the SriovOperatorConfig. */
  readonly components: ComponentSettings;
  /** Whether there shall be a ConfigMap with each node's configuration of the device plugin. */
  readonly writeConfigMap: boolean;
}

export function readOperatorSettings(
  flags: OperatorFlagValues & Pick<CommonValues, "namespace" | "maxCacheAge">,
): OperatorSettings {
  const { namespace, resourcePrefix, clusterType, maxCacheAge: maxCacheAgeMs } = flags;
  return {
    ...{ namespace, resourcePrefix, clusterType, maxCacheAgeMs },
    staleDelayMs: parseStaleDelayMs(flags.staleNodeStateCleanupDelayMinutes),
    components: readComponentSettings(flags),
    writeConfigMap: flags.writeConfigmap,
  };
}

function readComponentSettings(flags: Parameters<typeof readOperatorSettings>[0]): ComponentSettings {
  const { namespace, resourcePrefix, clusterType, useExternalDrainer, devMode, cniBinPath } = flags;
  return {
    ...{ namespace, resourcePrefix, clusterType, useExternalDrainer, devMode, cniBinPath },
    imagePullSecrets: flags.imagePullSecrets ?? [],
    operatorServiceAccount: flags.serviceAccount,
    images: {
      configDaemon: flags.configDaemonImage,
      devicePluginConfig: flags.devicePluginConfigImage,
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

/** Who makes a certificate: upstream asks in this order, and for want of all of them has none, where we make our own. */
function certificateSource(
  { clusterType, certManager }: Pick<OperatorFlagValues, "clusterType" | "certManager">,
  authority: string | undefined,
): CertificateSource {
  if (clusterType === "openshift") return { kind: "service-ca" };
  if (certManager) return { kind: "cert-manager" };
  return authority === undefined ? { kind: "self-made" } : { kind: "given", caBundle: toBase64(authority) };
}

/** Upstream wants PEM in base64, which is twice base64 in a Secret; who puts PEM there as it is means the same. */
function toBase64(authority: string): string {
  return authority.includes("-----BEGIN") ? Buffer.from(authority).toString("base64") : authority.trim();
}
