// SPDX-License-Identifier: Apache-2.0
/** Our admission webhook, and what the API server asks it about (sriov-operator.md E, H). */
import { accessObjects, readConfigRule } from "../rights/access.ts";
import {
  registration,
  serverHealthPort,
  serverNetworkPolicy,
  serverPlacement,
  serverPort,
  serverService,
  tlsDirectory,
  type AdmissionServer,
  type Question,
} from "./admission-server.ts";
import { annotated, namespaced, type Component, type ComponentInput } from "../component.ts";
import type { ComponentSettings } from "../component-settings.ts";
import type { DaemonSet, RequestRule } from "../objects/kube-objects.ts";
import {
  daemonSet,
  fromValues,
  notRoot,
  ownNamespace,
  probesAt,
  requests,
  unprivileged,
} from "../objects/pod-parts.ts";
import { tlsVariables } from "./tls-flags.ts";

const component = "operator-webhook";
const app = "operator-webhook";
const serviceAccount = "operator-webhook-sa";
const service = "operator-webhook-service";

/** Of both configurations. */
const configurationName = "sriov-operator-webhook-config";

const ours = { apiGroups: ["sriovnetwork.openshift.io"], apiVersions: ["v1"], scope: "Namespaced" } as const;

const defaulted: readonly RequestRule[] = [
  { ...ours, operations: ["CREATE", "UPDATE"], resources: ["sriovnetworknodepolicies"] },
];

/** Neither SriovNetworkNodeStates nor any status: programs write these, and must not wait for us. */
const validated: readonly RequestRule[] = [
  {
    ...ours,
    operations: ["CREATE", "UPDATE", "DELETE"],
    resources: ["sriovnetworknodepolicies", "sriovnetworkpoolconfigs", "sriovoperatorconfigs"],
  },
  {
    ...ours,
    operations: ["CREATE", "UPDATE"],
    resources: ["sriovnetworks", "sriovibnetworks", "ovsnetworks", "bridgenetworks"],
  },
];

export const operatorWebhook: Component = {
  name: component,
  field: "spec.enableOperatorWebhook",
  isWanted: ({ config }) => config.spec?.enableOperatorWebhook === true,
  needs: ["webhook"],
  render(input) {
    const { settings } = input;
    const server: AdmissionServer = { component, service, app, settings: settings.webhook };
    return [
      ...accessObjects(component, { serviceAccount, ...roles }, input),
      serverService(server, input),
      serverNetworkPolicy(server, input),
      webhookDaemonSet(input),
      ...(["Mutating", "Validating"] as const).map((kind) =>
        registration(
          server,
          {
            kind: `${kind}WebhookConfiguration`,
            name: configurationName,
            path: kind === "Mutating" ? "/mutating-custom-resource" : "/validating-custom-resource",
          },
          { ...asked(settings), rules: kind === "Mutating" ? defaulted : validated },
          settings,
        ),
      ),
    ];
  },
};

/**
 * Fail: what is not reviewed is not stored. But a webhook that is registered and does not serve must not keep away who can
 * put it right, the operator (sriov-operator.md M-50), nor those who only carry out a deletion: of a namespace, in which it goes before what
 * it watches over, and of a config in the foreground, which it goes before, too.
 */
function asked({ namespace, operatorServiceAccount }: ComponentSettings): Omit<Question, "rules"> {
  const exempt = [
    `system:serviceaccount:${namespace}:${operatorServiceAccount}`,
    "system:serviceaccount:kube-system:namespace-controller",
    "system:serviceaccount:kube-system:generic-garbage-collector",
    "system:kube-controller-manager", // both, where controllers have no accounts of their own
  ];
  return {
    name: "operator-webhook.sriovnetwork.openshift.io",
    failurePolicy: "Fail",
    matchConditions: [
      { name: "not-the-operator", expression: `!(request.userInfo.username in ${JSON.stringify(exempt)})` },
    ],
  };
}

const read = ["get", "list", "watch"];
const binding = "operator-webhook-role-binding";

/** What its rules look at, and nothing that it could write: the operator makes its certificate. */
const roles = {
  inNamespace: {
    ...{ role: app, binding },
    rules: [
      {
        apiGroups: ["sriovnetwork.openshift.io"],
        resources: ["sriovnetworknodepolicies", "sriovnetworknodestates", "sriovnetworkpoolconfigs"],
        verbs: read,
      },
      readConfigRule,
      { apiGroups: [""], resources: ["configmaps"], resourceNames: ["supported-nic-ids"], verbs: read },
    ],
  },
  inCluster: {
    ...{ role: app, binding },
    rules: [
      { apiGroups: [""], resources: ["nodes", "pods"], verbs: read }, // pods are counted in warnings
      { apiGroups: ["resource.k8s.io"], resources: ["resourceclaims", "resourceslices"], verbs: ["list", "watch"] },
    ],
  },
};

function webhookDaemonSet(input: ComponentInput): DaemonSet {
  const { settings } = input;
  const env = {
    LISTEN_ADDRESS: `:${serverPort}`,
    HEALTH_ADDRESS: `:${serverHealthPort}`,
    METRICS_ADDRESS: `:${serverHealthPort}`,
    MALLOC_ARENA_MAX: "1", // glibc's arenas would cost 20 MB for threads that hardly allocate
    DEV_MODE: settings.devMode ? "true" : undefined,
    RESOURCE_PREFIX: settings.resourcePrefix,
    ...tlsVariables(settings.tls),
  };
  const metadata = annotated(namespaced(component, app, input), {
    "kubernetes.io/description": "Admission webhook for the kinds of the SR-IOV network operator.",
  });
  return daemonSet(
    metadata,
    {
      app,
      securityContextConstraints: "restricted-v2",
      spec: {
        serviceAccountName: serviceAccount,
        ...serverPlacement(input),
        securityContext: notRoot(settings),
        containers: [
          {
            name: "webhook-server",
            image: settings.images.webhook ?? "",
            env: [ownNamespace, ...fromValues(env)],
            ports: [{ name: "metrics", containerPort: serverHealthPort, protocol: "TCP" }],
            securityContext: unprivileged,
            resources: requests("10m", "100Mi"),
            ...probesAt(serverHealthPort),
            volumeMounts: [{ name: "tls", mountPath: tlsDirectory, readOnly: true }],
          },
        ],
        volumes: [{ name: "tls", secret: { secretName: settings.webhook.secretName } }],
      },
    },
    input,
  );
}
