// SPDX-License-Identifier: Apache-2.0
/**
 * The SR-IOV device plugin, whose image is not ours, and beside it what configures it (apps/device-plugin-config): an init
 * container that waits until the node is configured, and a sidecar that follows (sriov-operator.md C).
 */
import { labels } from "@switchyard/api";
import { isGateOn } from "@switchyard/policy";
import { accessObjects, privilegedRules, readConfigRule } from "../rights/access.ts";
import { annotated, namespaced, type Component, type ComponentInput } from "../component.ts";
import type { PolicyRule } from "../objects/kube-objects.ts";
import {
  daemonSet,
  everyTaint,
  fromField,
  fromValues,
  nodeSetSelector,
  ownNamespace,
  probesAt,
  requests,
  unprivileged,
} from "../objects/pod-parts.ts";
import type { Container, SecurityContext, Volume, VolumeMount } from "../objects/pod-template.ts";

const component = "device-plugin";
const name = "sriov-device-plugin";

/** On the node's loopback, as the pod has the node's network. */
const healthPort = 29119;

const configVolume: VolumeMount = { name: "config", mountPath: "/etc/pcidp" };
const configFile = `${configVolume.mountPath}/config.json`;

/** SELinux and AppArmor let only the unconfined signal the unconfined, as the follower does to the plugin. */
const privileged: SecurityContext = { privileged: true, readOnlyRootFilesystem: true };

/**
 * The node's state is read, and the plugin's condition written on it: node-identity.ts sees to it that it is its own. The
 * config says how much is logged.
 */
const rules: readonly PolicyRule[] = [
  {
    apiGroups: ["sriovnetwork.openshift.io"],
    resources: ["sriovnetworknodestates"],
    verbs: ["get", "list", "watch"],
  },
  { apiGroups: ["sriovnetwork.openshift.io"], resources: ["sriovnetworknodestates/status"], verbs: ["patch"] },
  readConfigRule,
];

export const devicePlugin: Component = {
  name: component,
  isWanted: () => true,
  needs: ["devicePlugin", "devicePluginConfig"],
  render: (input) => [
    ...accessObjects(
      component,
      {
        serviceAccount: name,
        // Upstream's names: a binding cannot be given another role.
        inNamespace: { role: "sriov-plugin", binding: name, rules: [...rules, ...privilegedRules(input)] },
      },
      input,
    ),
    daemonSet(
      annotated(namespaced(component, name, input), {
        "kubernetes.io/description": "Offers the virtual functions of each node to its pods.",
      }),
      {
        app: name,
        securityContextConstraints: "privileged",
        spec: {
          ...{ serviceAccountName: name, priorityClassName: "system-node-critical" },
          ...{ hostNetwork: true, shareProcessNamespace: true, tolerations: everyTaint },
          nodeSelector: { ...nodeSetSelector(input), [labels.devicePlugin]: "Enabled" },
          initContainers: [configurer("wait-for-config", input)],
          containers: [plugin(input), configurer("follow-config", input)],
          volumes: [{ name: configVolume.name, emptyDir: {} }, ...hostDirectories(input).map(toVolume)],
        },
      },
      input,
    ),
  ],
};

/** Both of its ways write the same file. */
function configurer(way: "wait-for-config" | "follow-config", input: ComponentInput): Container {
  const { config, settings } = input;
  const env = {
    WAIT: way === "wait-for-config" ? "true" : "false",
    BLOCK_UNTIL_CONFIGURED: isGateOn("blockDevicePluginUntilConfigured", config) ? "true" : "false",
    CONFIG_FILE: configFile,
    HEALTH_ADDRESS: way === "wait-for-config" ? undefined : `127.0.0.1:${healthPort}`,
  };
  return {
    name: way,
    image: settings.images.devicePluginConfig ?? "",
    env: [fromField("NODE_NAME", "spec.nodeName"), ownNamespace, ...fromValues(env)],
    // The file is root's, whoever wrote it.
    securityContext: { ...(way === "wait-for-config" ? unprivileged : privileged), runAsUser: 0 },
    resources: requests("10m", "60Mi"),
    ...(way === "follow-config" && probesAt(healthPort, "127.0.0.1")),
    volumeMounts: [configVolume],
  };
}

/**
 * The plugin reads its configuration at its start only, and the follower ends it when that changed. The loop starts it
 * again at once, where the kubelet would let it wait for longer each time. What ends by itself is not started in a rush.
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

/** What the plugin writes for the kubelet, for CNI plugins and for container runtimes, under the same path as on the node. */
function hostDirectories({ config }: ComponentInput): readonly HostDirectory[] {
  return [
    { volume: "devicesock", path: "/var/lib/kubelet/device-plugins" },
    { volume: "plugins-registry", path: "/var/lib/kubelet/plugins_registry" },
    { volume: "device-info", path: "/var/run/k8s.cni.cncf.io/devinfo/dp" },
    ...(config.spec?.useCDI === true ? [{ volume: "dynamic-cdi", path: "/var/run/cdi" }] : []),
  ];
}

interface HostDirectory {
  readonly volume: string;
  readonly path: string;
}

function toVolume({ volume, path }: HostDirectory): Volume {
  return { name: volume, hostPath: { path, type: "DirectoryOrCreate" } };
}
