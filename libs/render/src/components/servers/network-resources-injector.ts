// SPDX-License-Identifier: Apache-2.0
/**
 * networkResourcesInjector deploys the network resources injector, a third-party image, which adds the resource
 * requests of a pod's networks to the pod (cnis.md 4).
 */
import { parseLimitedJson } from "@switchyard/api";
import { isGateOn } from "@switchyard/policy";
import type { CertificateSource, ComponentSettings } from "../component-settings.ts";
import { annotated, namespaced, type Component, type ComponentInput } from "../component.ts";
import type { ConfigMap, DaemonSet, NamedExpression, WebhookConfiguration } from "../objects/kube-objects.ts";
import { daemonSet, notRoot, ownNamespace, probesAt, requests, unprivileged } from "../objects/pod-parts.ts";
import type { ComponentProblem } from "../rendered-components.ts";
import { accessObjects } from "../rights/access.ts";
import {
  type AdmissionServer,
  placementNotice,
  serverHealthPort,
  serverNetworkPolicy,
  serverPlacement,
  serverPort,
  serverService,
  tlsDirectory,
  type WebhookCalls,
  webhookConfiguration,
} from "./admission-server.ts";
import { goCurveFlags, goTlsFlags } from "./tls-flags.ts";

/** Sources whose certificates are valid for one Service only. Other certificates may be valid for both. */
const madeForOne: readonly CertificateSource["kind"][] = ["self-made", "service-ca"];

type Servers = Pick<ComponentSettings, "webhook" | "injector">;

const component = "network-resources-injector";
const app = "network-resources-injector";
const serviceAccount = "network-resources-injector-sa";
const service = "network-resources-injector-service";

/** ConfigMap with the injector's feature switches. The injector has this name built in. */
export const injectorConfigName = "nri-control-switches";

/** The key with the injector's only configuration. */
export const injectorConfigKey = "config.json";

export const networkResourcesInjector: Component = {
  name: component,
  field: "spec.enableInjector",
  isWanted: ({ config }) => config.spec?.enableInjector === true,
  needs: ["injector"],
  check: (input) => [
    ...(hasOwnSecret(input.settings) ? [] : [sharedSecretProblem(input.settings)]),
    ...(tlsFlags(input.settings).length > 0 && !knowsTlsFlags(input.settings) ? [oldImageProblem(input.settings)] : []),
    ...placementNotice("spec.enableInjector", input),
  ],
  render(input) {
    const server: AdmissionServer = { component, service, app, settings: input.settings.injector };
    return [
      ...accessObjects(component, { serviceAccount, ...roles }, input),
      switches(input),
      serverService(server, input),
      serverNetworkPolicy(server, input),
      injectorDaemonSet(input),
      injectorRegistration(server, input),
    ];
  },
};

const read = ["get", "list", "watch"];
const binding = "network-resources-injector-role-binding";

const roles = {
  inNamespace: {
    role: app,
    binding,
    rules: [{ apiGroups: [""], resources: ["configmaps"], resourceNames: [injectorConfigName], verbs: read }],
  },
  inCluster: {
    role: app,
    binding,
    rules: [{ apiGroups: ["k8s.cni.cncf.io"], resources: ["network-attachment-definitions"], verbs: read }],
  },
};

/** The operator owns one feature. Everything else in the file, such as user-defined-injections, belongs to the users. */
function switches(input: ComponentInput): ConfigMap {
  return {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: namespaced(component, injectorConfigName, input),
    data: { [injectorConfigKey]: switchesText(input.settings.injectorConfig) },
  };
}

/** Returns the stored text if it has the operator's feature, so that equal settings are not written again. */
function switchesText(stored: string | undefined): string {
  const config = parseObject(stored ?? "");
  const features = config["features"];
  const own = { enableHugePageDownApi: true };
  const kept = typeof features === "object" && features !== null && !Array.isArray(features) ? features : {};
  if (stored !== undefined && Reflect.get(kept, "enableHugePageDownApi") === true) return stored;
  return `${JSON.stringify({ ...config, features: { ...kept, ...own } }, undefined, 2)}\n`;
}

/** Empty for a text that is not a JSON object: the injector could not read it either. */
function parseObject(text: string): Readonly<Record<string, unknown>> {
  try {
    const value = parseLimitedJson(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : {};
  } catch {
    return {};
  }
}

function injectorDaemonSet(input: ComponentInput): DaemonSet {
  const { settings } = input;
  const metadata = annotated(namespaced(component, app, input), {
    "kubernetes.io/description": "Adds the resource requests of networks to the pods that use them.",
  });
  return daemonSet(
    metadata,
    {
      app,
      securityContextConstraints: "restricted-v2",
      spec: {
        serviceAccountName: serviceAccount,
        ...serverPlacement(input),
        securityContext: notRoot(settings), // by default the image runs as root
        containers: [
          {
            name: "webhook-server",
            image: settings.images.injector ?? "",
            command: ["webhook"],
            args: [
              "--bind-address=0.0.0.0",
              `--port=${serverPort}`,
              `--tls-private-key-file=${tlsDirectory}/tls.key`,
              `--tls-cert-file=${tlsDirectory}/tls.crt`,
              "--insecure=true", // do not require client certificates: the API server has none
              "--logtostderr=true",
              `--health-check-port=${serverHealthPort}`,
              ...(knowsTlsFlags(settings) ? tlsFlags(settings) : []),
            ],
            env: [ownNamespace],
            securityContext: unprivileged,
            resources: requests("10m", "50Mi"),
            ...probesAt(serverHealthPort, { readyPath: "/healthz" }), // it serves no other path there
            volumeMounts: [{ name: "tls", mountPath: tlsDirectory, readOnly: true }],
          },
        ],
        volumes: [{ name: "tls", secret: { secretName: settings.injector.secretName } }],
      },
    },
    input,
  );
}

function tlsFlags({ tls }: Pick<ComponentSettings, "tls">): readonly string[] {
  return [...goTlsFlags(tls), ...goCurveFlags(tls)];
}

/**
 * Version 1.9.0 added the flags; older versions end at them ("flag provided but not defined"). An image without a version in its
 * tag, such as one with a digest only, is taken for a current one.
 */
function knowsTlsFlags({ images }: Pick<ComponentSettings, "images">): boolean {
  const [, major, minor] = /:v?(\d{1,5})\.(\d{1,5})(?:[.@-][^/]*)?$/.exec(images.injector ?? "") ?? [];
  if (major === undefined || minor === undefined) return true;
  return Number(major) > 1 || (Number(major) === 1 && Number(minor) >= 9);
}

function oldImageProblem({ images }: ComponentSettings): Omit<ComponentProblem, "component"> {
  const message =
    `the TLS settings of the operator do not apply to the network resources injector, because ${images.injector ?? ""} is older ` +
    "than version 1.9.0, which has the flags for them: use a newer image";
  return { severity: "warning", field: "spec.enableInjector", message };
}

/**
 * The API server calls the injector for all pods, so pods must not fail without it unless they have the networks
 * annotation.
 */
function injectorRegistration(server: AdmissionServer, { config, settings }: ComponentInput): WebhookConfiguration {
  const name = "network-resources-injector-config";
  const calledWhen: Pick<WebhookCalls, "failurePolicy" | "matchConditions"> = isGateOn(
    "resourceInjectorMatchCondition",
    config,
  )
    ? { failurePolicy: "Fail", matchConditions: [hasNetworks] }
    : { failurePolicy: "Ignore" };
  return webhookConfiguration(
    server,
    { kind: "MutatingWebhookConfiguration", name, path: "/mutate" },
    {
      name: `${name}.k8s.io`,
      ...calledWhen,
      rules: [
        { apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["pods"], scope: "Namespaced" },
      ],
    },
    settings,
  );
}

/** Matches pods with one of the two annotations that the injector reads. Upstream only checks the first. */
const hasNetworks: NamedExpression = {
  name: "include-networks-annotation",
  expression:
    "has(object.metadata.annotations) && " +
    '["k8s.v1.cni.cncf.io/networks", "v1.multus-cni.io/default-network"]' +
    ".exists(key, key in object.metadata.annotations)",
};

/**
 * hasOwnSecret reports whether webhook and injector use different Secrets. If they shared one, the program that creates
 * the certificate of one server would overwrite, or reuse, that of the other.
 * Also returns true if the servers share a Secret but the source of the certificates allows it.
 */
export function hasOwnSecret({ webhook, injector }: Servers): boolean {
  const kinds = [webhook.certificates.kind, injector.certificates.kind];
  return webhook.secretName !== injector.secretName || !kinds.some((kind) => madeForOne.includes(kind));
}

/** Returns the problem of an injector that shares the webhook's Secret. */
function sharedSecretProblem({ injector: { secretName } }: Servers): Omit<ComponentProblem, "component"> {
  const message =
    `cannot be deployed, because the webhook uses the Secret ${secretName}, too: ` +
    "set the operator's environment variable ADMISSION_CONTROLLERS_CERTIFICATES_INJECTOR_SECRET_NAME to another name";
  return { severity: "error", field: "spec.enableInjector", message };
}
