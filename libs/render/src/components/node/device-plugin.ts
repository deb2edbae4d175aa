// SPDX-License-Identifier: Apache-2.0
/**
 * devicePlugin deploys the SR-IOV device plugin, a third-party image, together with apps/device-plugin-config, which
 * configures it. The latter runs as an init container that waits until the node is configured, and as a sidecar that
 * follows changes (sriov-operator.md C).
 */
import { hasOtherKubeletDirectory, kubeletMountPath, pathOnNode } from "../component-settings.ts";
import { labels } from "@switchyard/api";
import { isGateOn } from "@switchyard/policy";
import { scrapeReviewRules, secureMetrics } from "../objects/metrics-port.ts";
import { accessObjects, privilegedRules, readConfigRule } from "../rights/access.ts";
import { annotated, namespaced, type Component, type ComponentInput } from "../component.ts";
import type { RbacRule } from "../objects/kube-objects.ts";
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
import type { Container, SecurityContext, Volume, VolumeMount } from "../objects/pod-template.ts";

const component = "device-plugin";
const name = "sriov-device-plugin";

/** Port on the node's loopback address, because the pod uses the node's network. */
const healthPort = 29119;
const metricsPort = 29125;

const configVolume: VolumeMount = { name: "config", mountPath: "/etc/pcidp" };
const configFile = `${configVolume.mountPath}/config.json`;

const podResources: VolumeMount = {
  name: "pod-resources",
  mountPath: `${kubeletMountPath}/pod-resources`,
  readOnly: true,
};

/** The plugin registers there, and the sidecar reads whether it has. */
const devicePluginSockets: VolumeMount = { name: "devicesock", mountPath: `${kubeletMountPath}/device-plugins` };

/**
 * The sidecar sends signals to the plugin. SELinux and AppArmor only allow that if both containers are unconfined. SELinux allows
 * only unconfined containers to connect to the kubelet's socket.
 */
const privileged: SecurityContext = { privileged: true, readOnlyRootFilesystem: true };

/**
 * Rights to read the node's SriovNetworkNodeState and to write a condition to its status; node-identity.ts limits them
 * to the own node. The SriovOperatorConfig contains the log level.
 */
const rules: readonly RbacRule[] = [
  {
    apiGroups: ["sriovnetwork.openshift.io"],
    resources: ["sriovnetworknodestates"],
    verbs: ["get", "list", "watch"],
  },
  { apiGroups: ["sriovnetwork.openshift.io"], resources: ["sriovnetworknodestates/status"], verbs: ["patch"] },
  readConfigRule,
];

/** Rights in the whole cluster: a role cannot limit them to the slices of the own node. */
const clusterRules: readonly RbacRule[] = [
  { apiGroups: ["resource.k8s.io"], resources: ["resourceslices"], verbs: ["list", "watch"] },
];

export const devicePlugin: Component = {
  name: component,
  isWanted: ({ hasSriov }) => hasSriov,
  needs: ["devicePlugin", "devicePluginConfig"],
  render: (input) => [
    ...accessObjects(
      component,
      {
        serviceAccount: name,
        // Upstream's names, because the role of an existing binding cannot be changed.
        inNamespace: { role: "sriov-plugin", binding: name, rules: [...rules, ...privilegedRules(input)] },
        inCluster: { role: name, binding: name, rules: [...clusterRules, ...scrapeReviewRules(input.settings)] },
      },
      input,
    ),
    daemonSet(
      annotated(namespaced(component, name, input), {
        "kubernetes.io/description": "Makes the virtual functions of each node available to pods.",
      }),
      {
        app: name,
        securityContextConstraints: "privileged",
        spec: {
          serviceAccountName: name,
          priorityClassName: "system-node-critical",
          hostNetwork: true,
          shareProcessNamespace: true,
          tolerations: everyTaint,
          nodeSelector: { ...nodeSetSelector(input), [labels.devicePlugin]: "Enabled" },
          initContainers: [configurer("wait-for-config", input)],
          containers: [plugin(input), configurer("follow-config", input)],
          volumes: [
            { name: configVolume.name, emptyDir: {} },
            ...[...hostDirectories(input), { volume: podResources.name, path: podResources.mountPath }].map(
              (directory) => toVolume(directory, input),
            ),
          ],
        },
      },
      input,
    ),
  ],
};

/** Returns the init container or the sidecar. Both write the same file. */
function configurer(mode: "wait-for-config" | "follow-config", input: ComponentInput): Container {
  const { config, settings } = input;
  const metrics = mode === "wait-for-config" ? undefined : secureMetrics(settings, metricsPort);
  const env = {
    WAIT: mode === "wait-for-config" ? "true" : "false",
    BLOCK_UNTIL_CONFIGURED: isGateOn("blockDevicePluginUntilConfigured", config) ? "true" : "false",
    CONFIG_FILE: configFile,
    RESOURCE_PREFIX: settings.resourcePrefix,
    ...metrics?.env,
    HEALTH_ADDRESS: mode === "wait-for-config" ? undefined : `127.0.0.1:${healthPort}`,
  };
  return {
    name: mode,
    image: settings.images.devicePluginConfig ?? "",
    env: [
      fromField("NODE_NAME", "spec.nodeName"),
      fromField("POD_NAME", "metadata.name"),
      ownNamespace,
      ...fromValues(env),
    ],
    ...(metrics !== undefined && metrics.ports.length > 0 && { ports: metrics.ports }),
    // Both run as root, so that each can replace the file of the other.
    securityContext: { ...privileged, runAsUser: 0 },
    resources: requests("10m", "60Mi"),
    ...(mode === "follow-config" && probesAt(healthPort, { host: "127.0.0.1" })),
    volumeMounts: [configVolume, podResources, { ...devicePluginSockets, readOnly: true }],
  };
}

/**
 * The plugin only reads its configuration when it starts, so the sidecar terminates it after each change. The loop
 * restarts it immediately, while the kubelet would increase the delay with each restart. The sleep limits restarts of a
 * plugin that exits by itself.
 */
const loop = `trap 'kill $!; wait $!; exit' TERM; while :; do sriovdp "$@" & wait $!; sleep 1; done`;

function plugin(input: ComponentInput): Container {
  const { config, settings } = input;
  return {
    name,
    image: settings.images.devicePlugin ?? "",
    command: ["/bin/sh", "-c", loop, "sh"],
    args: [
      "-v=10",
      "-logtostderr",
      `--resource-prefix=${settings.resourcePrefix}`,
      `--config-file=${configFile}`,
      ...(config.spec?.useCDI === true ? ["--use-cdi"] : []),
    ],
    securityContext: { ...privileged, runAsUser: 0 },
    resources: requests("10m", "50Mi"),
    volumeMounts: [
      { ...configVolume, readOnly: true },
      ...hostDirectories(input).map(({ volume, path }) => ({ name: volume, mountPath: path })),
    ],
  };
}

/**
 * Directories in which the plugin writes files for the kubelet, CNI plugins and container runtimes. In plugins_registry, the plugin
 * tells the kubelet the path of its socket as it is in the container. With another directory on the node, the plugin does not get
 * plugins_registry, and then registers in device-plugins, where only the name of the socket counts (pkg/resources/server.go, v3.5).
 */
function hostDirectories({ config, settings }: ComponentInput): readonly HostDirectory[] {
  const registry = { volume: "plugins-registry", path: `${kubeletMountPath}/plugins_registry` };
  return [
    { volume: devicePluginSockets.name, path: devicePluginSockets.mountPath },
    ...(hasOtherKubeletDirectory(settings) ? [] : [registry]),
    { volume: "device-info", path: "/var/run/k8s.cni.cncf.io/devinfo/dp" },
    ...(config.spec?.useCDI === true ? [{ volume: "dynamic-cdi", path: "/var/run/cdi" }] : []),
  ];
}

interface HostDirectory {
  readonly volume: string;
  readonly path: string;
}

function toVolume({ volume, path }: HostDirectory, { settings }: ComponentInput): Volume {
  return { name: volume, hostPath: { path: pathOnNode(settings, path), type: "DirectoryOrCreate" } };
}
