// SPDX-License-Identifier: Apache-2.0
/**
 * afxdpPlugins deploys the plugins of afxdp-plugins-for-kubernetes, a third-party image, on the nodes that the
 * AfxdpOperatorConfig selects, if that config chooses them (provider upstream). They are the device plugin, and the CNI
 * plugin, which an init container installs (eve-and-afxdp.md b3). apps/device-plugin-config configures the device
 * plugin, as an init container that waits until the node is configured, and as a sidecar that follows changes.
 */
import { kubeletMountPath, pathOnNode } from "../component-settings.ts";
import { ownAfxdpCni, upstreamDeviceDirectory } from "@switchyard/api";
import { afxdpProviderOf, nodeSetLabels } from "@switchyard/policy";
import { accessObjects, afxdpPluginRules, privilegedRules } from "../rights/access.ts";
import { annotated, namespaced, type Component, type ComponentInput } from "../component.ts";
import {
  daemonSet,
  everyTaint,
  fromField,
  fromValues,
  ownNamespace,
  probesAt,
  requests,
} from "../objects/pod-parts.ts";
import type { Container, SecurityContext, Volume, VolumeMount } from "../objects/pod-template.ts";

const component = "afxdp-plugins";
const name = "afxdp-plugins";

/** Name of the plugin's container and of its process. */
const process = "afxdp-dp";

/** Port on the node's loopback address, because the pod uses the node's network. */
const healthPort = 29122;

const configVolume: VolumeMount = { name: "config", mountPath: "/etc/afxdp-plugins" };
const configFile = `${configVolume.mountPath}/config.json`;
const cniVolume: VolumeMount = { name: "cnibin", mountPath: "/host/opt/cni/bin" };
/** The sidecar removes the sockets that the plugin has left. */
const sockets: VolumeMount = { name: "sockets", mountPath: "/tmp/afxdp_dp" };
/** The init container and the sidecar record the devices that the plugin gets, for the config daemon. */
const records: VolumeMount = { name: "records", mountPath: upstreamDeviceDirectory };
const podResources = { volume: "pod-resources", path: `${kubeletMountPath}/pod-resources` };

/**
 * Directories of the node, mounted at the same paths. The plugin mounts BPF file systems in /var/run/afxdp_dp, which the node and
 * pods must see.
 */
const hostDirectories: readonly (VolumeMount & { readonly hostPath: string })[] = [
  { ...sockets, hostPath: "/tmp/afxdp_dp" },
  {
    name: "maps",
    hostPath: "/var/run/afxdp_dp",
    mountPath: "/var/run/afxdp_dp",
    mountPropagation: "Bidirectional",
  },
  {
    name: "device-plugins",
    hostPath: `${kubeletMountPath}/device-plugins`,
    mountPath: `${kubeletMountPath}/device-plugins`,
  },
  { name: podResources.volume, hostPath: podResources.path, mountPath: podResources.path },
];

/**
 * The sidecar sends signals to the plugin. SELinux and AppArmor only allow that if both containers are unconfined. SELinux allows only
 * unconfined containers to write the records.
 */
const privileged: SecurityContext = { privileged: true, readOnlyRootFilesystem: true };

export const afxdpPlugins: Component = {
  name: component,
  field: "spec.provider",
  isWanted: ({ afxdp }) => afxdp !== undefined && afxdpProviderOf(afxdp) === "upstream",
  needs: ["afxdpPlugins", "devicePluginConfig"],
  render: (input) => [
    ...accessObjects(
      component,
      {
        serviceAccount: name,
        inNamespace: { role: name, binding: name, rules: [...afxdpPluginRules, ...privilegedRules(input)] },
      },
      input,
    ),
    daemonSet(
      annotated(namespaced(component, name, input), {
        "kubernetes.io/description":
          "Makes the AF_XDP devices of each node available to pods by the plugins of afxdp-plugins-for-kubernetes.",
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
          nodeSelector: nodeSetLabels(input.afxdp),
          initContainers: [cniInstaller(input), configurer("wait-for-config", input)],
          containers: [plugin(input), configurer("follow-config", input)],
          volumes: volumesOf(input),
        },
      },
      input,
    ),
  ],
};

/**
 * Replaces the CNI plugin while it may be running. It is a link to a file whose name only Switchyard uses, by which
 * `config-daemon cleanup` recognises it. It stays when the DaemonSet is removed, because it is needed to end running pods.
 */
const install = [
  `set -e; cd ${cniVolume.mountPath}`,
  `cp -f /afxdp/afxdp ${ownAfxdpCni}.new; mv -f ${ownAfxdpCni}.new ${ownAfxdpCni}`,
  `ln -sf ${ownAfxdpCni} .afxdp.new; mv -f .afxdp.new afxdp`,
].join("; ");

function cniInstaller({ settings }: ComponentInput): Container {
  return {
    name: "install-afxdp-cni",
    image: settings.images.afxdpPlugins ?? "",
    command: ["/bin/sh", "-c", install],
    securityContext: { privileged: true, runAsUser: 0 },
    resources: requests("10m", "10Mi"),
    volumeMounts: [cniVolume],
  };
}

/** Returns the init container or the sidecar. Both write the same file. */
function configurer(mode: "wait-for-config" | "follow-config", { afxdp, settings }: ComponentInput): Container {
  const isFollower = mode === "follow-config";
  const env = {
    PLUGIN: "afxdp",
    PLUGIN_PROCESS: process,
    CONFIG_FILE: configFile,
    WAIT: isFollower ? "false" : "true",
    VERBOSITY: afxdp?.spec?.logLevel?.toString(),
    HEALTH_ADDRESS: isFollower ? `127.0.0.1:${healthPort}` : undefined,
  };
  return {
    name: mode,
    image: settings.images.devicePluginConfig ?? "",
    env: [fromField("NODE_NAME", "spec.nodeName"), ownNamespace, ...fromValues(env)],
    // Both run as root, so that each can replace the file of the other.
    securityContext: { ...privileged, runAsUser: 0 },
    resources: requests("10m", "60Mi"),
    ...(isFollower && probesAt(healthPort, { host: "127.0.0.1" })),
    volumeMounts: [
      configVolume,
      records,
      ...(isFollower
        ? [sockets, { name: podResources.volume, mountPath: podResources.path, readOnly: true as const }]
        : []),
    ],
  };
}

/** As for the SR-IOV device plugin (device-plugin.ts). On a kernel that the plugin cannot use, it ends at once each time. */
const loop = `trap 'kill $!; wait $!; exit' TERM; while :; do /afxdp/afxdp-dp "$@" & wait $!; sleep 5; done`;

function plugin({ settings }: ComponentInput): Container {
  return {
    name: process,
    image: settings.images.afxdpPlugins ?? "",
    command: ["/bin/sh", "-c", loop, "sh"],
    args: ["-config", configFile],
    securityContext: { privileged: true, runAsUser: 0 },
    resources: requests("10m", "40Mi"),
    volumeMounts: [{ ...configVolume, readOnly: true }, ...hostDirectories.map(({ hostPath: _, ...mount }) => mount)],
  };
}

function volumesOf({ settings }: ComponentInput): readonly Volume[] {
  const host = [
    ...hostDirectories,
    { name: records.name, hostPath: records.mountPath },
    { name: cniVolume.name, hostPath: settings.cniBinPath },
  ];
  return [
    { name: configVolume.name, emptyDir: {} },
    ...host.map((volume): Volume => {
      return {
        name: volume.name,
        hostPath: { path: pathOnNode(settings, volume.hostPath), type: "DirectoryOrCreate" },
      };
    }),
  ];
}
