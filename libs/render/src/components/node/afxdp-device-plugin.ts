// SPDX-License-Identifier: Apache-2.0
/**
 * afxdpDevicePlugin deploys apps/afxdp-device-plugin on the nodes that the AfxdpOperatorConfig selects, unless that config
 * chooses the plugins of upstream. Without an AfxdpOperatorConfig "default" it is not deployed.
 */
import { kubeletMountPath, pathOnNode } from "../component-settings.ts";
import { bpfmanProgramDirectory } from "@switchyard/api";
import { afxdpProviderOf, nodeSetLabels } from "@switchyard/policy";
import { scrapeReviewRules, secureMetrics } from "../objects/metrics-port.ts";
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
import type { Container } from "../objects/pod-template.ts";

const component = "afxdp-device-plugin";
const name = "afxdp-device-plugin";

/** Port on the node's loopback address, because the pod uses the node's network. */
const healthPort = 29121;
const metricsPort = 29124;

/**
 * Directories of the node, mounted at the same paths; the kubelet can have another one on the node. The kubelet and pods use the sockets and maps in them, and the plugin's
 * record in /var/lib/switchyard survives the pod.
 */
const hostDirectories = {
  "device-plugins": `${kubeletMountPath}/device-plugins`,
  "pod-resources": `${kubeletMountPath}/pod-resources`,
  sockets: "/run/switchyard/afxdp",
  state: "/var/lib/switchyard",
  bpf: "/sys/fs/bpf",
} as const;

/** Directory of the node for the program that bpfman loads. Only with loader bpfman, because it is in a directory of bpfman. */
const bpfmanDirectory = { "bpfman-program": bpfmanProgramDirectory } as const;

export const afxdpDevicePlugin: Component = {
  name: component,
  isWanted: ({ afxdp }) => afxdp !== undefined && afxdpProviderOf(afxdp) === "switchyard",
  needs: ["afxdpDevicePlugin"],
  render: (input) => [
    ...accessObjects(
      component,
      {
        serviceAccount: name,
        inNamespace: { role: name, binding: name, rules: [...afxdpPluginRules, ...privilegedRules(input)] },
        inCluster: { role: name, binding: name, rules: scrapeReviewRules(input.settings) },
      },
      input,
    ),
    daemonSet(
      annotated(namespaced(component, name, input), {
        "kubernetes.io/description": "Makes the AF_XDP devices of each node available to pods.",
      }),
      {
        app: name,
        securityContextConstraints: "privileged",
        spec: {
          serviceAccountName: name,
          priorityClassName: "system-node-critical",
          hostNetwork: true,
          nodeSelector: nodeSetLabels(input.afxdp),
          tolerations: everyTaint,
          containers: [plugin(input)],
          volumes: Object.entries(directoriesFor(input)).map(([volume, path]) => ({
            name: volume,
            hostPath: { path: pathOnNode(input.settings, path), type: "DirectoryOrCreate" as const },
          })),
        },
      },
      input,
    ),
  ],
};

function directoriesFor({ afxdp }: ComponentInput): Readonly<Record<string, string>> {
  return { ...hostDirectories, ...(afxdp?.spec?.loader === "bpfman" && bpfmanDirectory) };
}

function plugin(input: ComponentInput): Container {
  const { afxdp, settings } = input;
  const metrics = secureMetrics(settings, metricsPort);
  return {
    name,
    image: settings.images.afxdpDevicePlugin ?? "",
    env: [
      fromField("NODE_NAME", "spec.nodeName"),
      ownNamespace,
      ...fromValues({
        HEALTH_ADDRESS: `127.0.0.1:${healthPort}`,
        ...metrics.env,
        VERBOSITY: afxdp?.spec?.logLevel?.toString(),
        LOADER: afxdp?.spec?.loader === "bpfman" ? "bpfman" : undefined,
      }),
    ],
    ...(metrics.ports.length > 0 && { ports: metrics.ports }),
    // AppArmor's default profile forbids writes to the BPF file system, and SELinux the sockets for pods.
    securityContext: { privileged: true, readOnlyRootFilesystem: true, runAsUser: 0 },
    resources: requests("10m", "60Mi"),
    ...probesAt(healthPort, { host: "127.0.0.1" }),
    volumeMounts: Object.entries(directoriesFor(input)).map(([volume, mountPath]) => ({ name: volume, mountPath })),
  };
}
