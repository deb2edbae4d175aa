// SPDX-License-Identifier: Apache-2.0
/**
 * draDriver deploys apps/dra-driver, which gives VFs to pods by ResourceClaims, on the nodes that have the label for it. It is deployed
 * while a node needs it, also if the driver has published VFs and the device plugin is wanted again. The DaemonSet has the name that other
 * operators give to dra-driver-sriov, so a take-over replaces its pods node by node, and allocated claims stay allocated.
 */
import { draDriverName, labels } from "@switchyard/api";
import { accessObjects, eventRule, privilegedRules, readConfigRule } from "../rights/access.ts";
import { annotated, namespaced, type Component, type ComponentInput } from "../component.ts";
import type { RbacRule } from "../objects/kube-objects.ts";
import { scrapeReviewRules, secureMetrics } from "../objects/metrics-port.ts";
import {
  daemonSet,
  everyTaint,
  fromField,
  fromValues,
  nodeSetSelector,
  ownNamespace,
  probesAt,
  requests,
} from "../objects/pod-parts.ts";
import type { Container } from "../objects/pod-template.ts";

const component = "dra-driver";
const name = "sriov-dra-driver";

/** Port on the node's loopback address, because the pod uses the node's network. */
const healthPort = 29122;
const metricsPort = 29126;

const hostRoot = "/host";

/** Rights in the operator's namespace; node-identity.ts limits writes to the node state of the own node. */
const rules: readonly RbacRule[] = [
  { apiGroups: ["sriovnetwork.openshift.io"], resources: ["sriovnetworknodestates"], verbs: ["get", "list", "watch"] },
  { apiGroups: ["sriovnetwork.openshift.io"], resources: ["sriovnetworknodestates/status"], verbs: ["patch"] },
  readConfigRule,
  eventRule,
];

/**
 * Rights in the whole cluster. node-identity.ts limits writes of slices to those of the own node. The verb associated-node:patch lets
 * the API server itself limit the devices in the status of claims to claims that are allocated on the own node (Kubernetes 1.36).
 */
const clusterRules: readonly RbacRule[] = [
  {
    apiGroups: ["resource.k8s.io"],
    resources: ["resourceslices"],
    verbs: ["get", "list", "watch", "create", "update", "patch", "delete"],
  },
  { apiGroups: ["resource.k8s.io"], resources: ["resourceclaims"], verbs: ["get", "list", "watch"] },
  { apiGroups: ["resource.k8s.io"], resources: ["resourceclaims/status"], verbs: ["patch"] },
  {
    apiGroups: ["resource.k8s.io"],
    resources: ["resourceclaims/driver"],
    resourceNames: [draDriverName],
    verbs: ["associated-node:patch"],
  },
  { apiGroups: [""], resources: ["nodes"], verbs: ["get"] }, // the Node owns the slices
];

/** For VFs that are attached without Multus. Claims can name networks of other namespaces, as annotations for Multus can. */
const attachRules: readonly RbacRule[] = [
  { apiGroups: ["k8s.cni.cncf.io"], resources: ["network-attachment-definitions"], verbs: ["get"] },
];

export const draDriver: Component = {
  name: component,
  isWanted: ({ hasSriov, settings }) => hasSriov && settings.usesClaims === true,
  needs: ["draDriver"],
  render: (input) => [
    ...accessObjects(
      component,
      {
        serviceAccount: name,
        inNamespace: { role: name, binding: name, rules: [...rules, ...privilegedRules(input)] },
        inCluster: {
          role: name,
          binding: name,
          rules: [
            ...clusterRules,
            ...(input.settings.attachesNetworks === false ? [] : attachRules),
            ...scrapeReviewRules(input.settings),
          ],
        },
      },
      input,
    ),
    daemonSet(
      annotated(namespaced(component, name, input), {
        "kubernetes.io/description": "Gives the virtual functions of each node to pods by ResourceClaims.",
      }),
      {
        app: name,
        securityContextConstraints: "privileged",
        spec: {
          serviceAccountName: name,
          priorityClassName: "system-node-critical",
          hostNetwork: true,
          tolerations: everyTaint,
          nodeSelector: { ...nodeSetSelector(input), [labels.draDriver]: "Enabled" },
          containers: [driver(input)],
          volumes: [{ name: "host", hostPath: { path: "/" } }],
        },
      },
      input,
    ),
  ],
};

function driver({ settings }: ComponentInput): Container {
  const metrics = secureMetrics(settings, metricsPort);
  return {
    name,
    image: settings.images.draDriver ?? "",
    env: [
      fromField("NODE_NAME", "spec.nodeName"),
      ownNamespace,
      ...fromValues({
        HOST_ROOT: hostRoot,
        KUBELET_DIRECTORY: settings.kubeletDirectory,
        RESOURCE_PREFIX: settings.resourcePrefix,
        CNI_BIN_DIRECTORY: settings.cniBinPath,
        ATTACH_NETWORKS: settings.attachesNetworks === false ? "false" : undefined,
        HEALTH_ADDRESS: `127.0.0.1:${healthPort}`,
        ...metrics.env,
      }),
    ],
    ...(metrics.ports.length > 0 && { ports: metrics.ports }),
    // It binds drivers, and writes files for the kubelet and for container runtimes to the host.
    securityContext: { privileged: true, readOnlyRootFilesystem: true, runAsUser: 0 },
    resources: requests("10m", "65Mi"),
    ...probesAt(healthPort, { host: "127.0.0.1" }),
    // The network namespaces of pods are mounts, which container runtimes make later.
    volumeMounts: [{ name: "host", mountPath: hostRoot, mountPropagation: "HostToContainer" }],
  };
}
