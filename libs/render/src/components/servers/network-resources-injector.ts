// SPDX-License-Identifier: Apache-2.0
/**
 * networkResourcesInjector deploys the network resources injector, a third-party image, which adds the resource
 * requests of a pod's networks to the pod (cnis.md 4).
 */
import { isGateOn } from "@switchyard/policy";
import { accessObjects } from "../rights/access.ts";
import {
  webhookConfiguration,
  serverHealthPort,
  serverNetworkPolicy,
  serverPlacement,
  serverPort,
  serverService,
  tlsDirectory,
  type AdmissionServer,
  type WebhookCalls,
} from "./admission-server.ts";
import { annotated, namespaced, type Component, type ComponentInput } from "../component.ts";
import type { ConfigMap, DaemonSet, NamedExpression, WebhookConfiguration } from "../objects/kube-objects.ts";
import { hasOwnSecret, sharedSecretProblem } from "./own-secret.ts";
import { daemonSet, notRoot, ownNamespace, probesAt, requests, unprivileged } from "../objects/pod-parts.ts";
import { goCurveFlags, goTlsFlags } from "./tls-flags.ts";

const component = "network-resources-injector";
const app = "network-resources-injector";
const serviceAccount = "network-resources-injector-sa";
const service = "network-resources-injector-service";

/** ConfigMap with the injector's feature switches. The injector has this name built in. */
const switchesName = "nri-control-switches";

export const networkResourcesInjector: Component = {
  name: component,
  field: "spec.enableInjector",
  isWanted: ({ config }) => config.spec?.enableInjector === true,
  needs: ["injector"],
  check: ({ settings }) => (hasOwnSecret(settings) ? [] : [sharedSecretProblem(settings)]),
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
    ...{ role: app, binding },
    rules: [{ apiGroups: [""], resources: ["configmaps"], resourceNames: [switchesName], verbs: read }],
  },
  inCluster: {
    ...{ role: app, binding },
    rules: [{ apiGroups: ["k8s.cni.cncf.io"], resources: ["network-attachment-definitions"], verbs: read }],
  },
};

function switches(input: ComponentInput): ConfigMap {
  const config = { features: { enableHugePageDownApi: true } };
  return {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: namespaced(component, switchesName, input),
    data: { "config.json": `${JSON.stringify(config, undefined, 2)}\n` },
  };
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
              ...goTlsFlags(settings.tls),
              ...goCurveFlags(settings.tls),
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
