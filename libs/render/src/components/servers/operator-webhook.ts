// SPDX-License-Identifier: Apache-2.0
/** operatorWebhook deploys the operator's admission webhook and its webhook configurations (sriov-operator.md E, H). */
import { metricsPort, scrapeReviewRules, secureMetrics } from "../objects/metrics-port.ts";
import { accessObjects, readConfigRule } from "../rights/access.ts";
import {
  type AdmissionServer,
  placementNotice,
  serverHealthPort,
  serverMetricsPort,
  serverNetworkPolicy,
  serverPlacement,
  serverPort,
  serverService,
  tlsDirectory,
  type WebhookCalls,
  webhookConfiguration,
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

/** Name of both webhook configurations. */
const configurationName = "sriov-operator-webhook-config";

const sriov = { apiGroups: ["sriovnetwork.openshift.io"], apiVersions: ["v1"], scope: "Namespaced" } as const;
const afxdp = { apiGroups: ["afxdpnetwork.hns.dev"], apiVersions: ["v1alpha1"], scope: "Namespaced" } as const;

const defaulted: readonly RequestRule[] = [
  { ...sriov, operations: ["CREATE", "UPDATE"], resources: ["sriovnetworknodepolicies"] },
];

/** Without node states and status, because programs write these and must not depend on the webhook. */
const validated: readonly RequestRule[] = [
  {
    ...sriov,
    operations: ["CREATE", "UPDATE", "DELETE"],
    resources: ["sriovnetworknodepolicies", "sriovnetworkpoolconfigs", "sriovoperatorconfigs"],
  },
  {
    ...sriov,
    operations: ["CREATE", "UPDATE"],
    resources: ["sriovnetworks", "sriovibnetworks", "ovsnetworks", "bridgenetworks"],
  },
  {
    ...afxdp,
    operations: ["CREATE", "UPDATE"],
    resources: ["afxdpnetworknodepolicies", "afxdpoperatorconfigs", "afxdpnetworks"],
  },
];

export const operatorWebhook: Component = {
  name: component,
  field: "spec.enableOperatorWebhook",
  isWanted: ({ config }) => config.spec?.enableOperatorWebhook === true,
  needs: ["webhook"],
  check: (input) => placementNotice("spec.enableOperatorWebhook", input),
  render(input) {
    const { settings } = input;
    const server: AdmissionServer = { component, service, app, settings: settings.webhook };
    return [
      ...accessObjects(component, { serviceAccount, ...rolesOn(settings) }, input),
      serverService(server, input),
      serverNetworkPolicy(server, input),
      webhookDaemonSet(input),
      ...(["Mutating", "Validating"] as const).map((kind) =>
        webhookConfiguration(
          server,
          {
            kind: `${kind}WebhookConfiguration`,
            name: configurationName,
            path: kind === "Mutating" ? "/mutating-custom-resource" : "/validating-custom-resource",
          },
          { ...callsOf(settings), rules: kind === "Mutating" ? defaulted : validated },
          settings,
        ),
      ),
    ];
  },
};

/**
 * The failure policy is Fail, so no object is stored without a review. If the webhook does not respond, it must not
 * block the operator, which repairs it (sriov-operator.md M-50). It must not block Kubernetes' own deletions either:
 * when a namespace or, in the foreground, a SriovOperatorConfig is deleted, the webhook is deleted before the objects
 * that it reviews.
 */
function callsOf({ namespace, operatorServiceAccount }: ComponentSettings): Omit<WebhookCalls, "rules"> {
  const exempt = [
    `system:serviceaccount:${namespace}:${operatorServiceAccount}`,
    "system:serviceaccount:kube-system:namespace-controller",
    "system:serviceaccount:kube-system:generic-garbage-collector",
    "system:kube-controller-manager", // used by both controllers if they have no service accounts of their own
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

/** The webhook reads what its rules need. It needs no write access, because the operator creates its certificate. */
function rolesOn({ clusterType, hasSecureMetrics }: Pick<ComponentSettings, "clusterType" | "hasSecureMetrics">) {
  return {
    inNamespace: {
      role: app,
      binding,
      rules: [
        {
          apiGroups: ["sriovnetwork.openshift.io"],
          resources: ["sriovnetworknodepolicies", "sriovnetworknodestates", "sriovnetworkpoolconfigs"],
          verbs: read,
        },
        readConfigRule,
        {
          apiGroups: ["afxdpnetwork.hns.dev"],
          resources: ["afxdpnetworknodepolicies", "afxdpnetworknodestates", "afxdpoperatorconfigs"],
          verbs: read,
        },
        { apiGroups: [""], resources: ["configmaps"], resourceNames: ["supported-nic-ids"], verbs: read },
      ],
    },
    inCluster: {
      role: app,
      binding,
      rules: [
        { apiGroups: [""], resources: ["nodes", "pods"], verbs: read }, // warnings contain numbers of pods
        { apiGroups: ["resource.k8s.io"], resources: ["resourceclaims", "resourceslices"], verbs: ["list", "watch"] },
        ...(clusterType === "openshift" ? [readPools] : []),
        ...scrapeReviewRules({ hasSecureMetrics }),
      ],
    },
  };
}

/** spec.ovnHardwareOffload selects MachineConfigPools. */
const readPools = {
  apiGroups: ["machineconfiguration.openshift.io"],
  resources: ["machineconfigpools"],
  verbs: ["list", "watch"],
};

function webhookDaemonSet(input: ComponentInput): DaemonSet {
  const { settings } = input;
  const secure = secureMetrics(settings, serverMetricsPort);
  const env = {
    LISTEN_ADDRESS: `:${serverPort}`,
    HEALTH_ADDRESS: `:${serverHealthPort}`,
    METRICS_ADDRESS: `:${serverHealthPort}`,
    ...secure.env,
    MALLOC_ARENA_MAX: "1", // more of glibc's arenas take 20 MB for threads that hardly allocate memory
    CLUSTER_TYPE: settings.clusterType === "openshift" ? "openshift" : undefined,
    DEV_MODE: settings.devMode ? "true" : undefined,
    RESOURCE_PREFIX: settings.resourcePrefix,
    REVIEW_PATH: settings.webhook.podPath,
    ...tlsVariables(settings.tls),
  };
  const metadata = annotated(namespaced(component, app, input), {
    "kubernetes.io/description": "Admission webhook for the custom resources of the SR-IOV network operator.",
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
            ports: secure.ports.length > 0 ? secure.ports : [metricsPort(serverHealthPort)],
            securityContext: unprivileged,
            // Anybody who reaches the port can make it allocate memory. V8's limit of the heap follows from this one: half of it.
            resources: { ...requests("10m", "100Mi"), limits: { memory: "1Gi" } },
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
