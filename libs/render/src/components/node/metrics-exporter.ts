// SPDX-License-Identifier: Apache-2.0
/**
 * metricsExporter deploys the metrics exporter on each node of the node set. It exports the counters of VFs and the
 * pods that use them (sriov-operator.md H). If an image of kube-rbac-proxy is set, that proxy serves the metrics over
 * TLS to authorized clients only. Both are third-party images.
 */
import { kubeletMountPath, pathOnNode } from "../component-settings.ts";
import { isGateOn } from "@switchyard/policy";
import { accessObjects, privilegedRules } from "../rights/access.ts";
import { annotated, namespaced, type Component, type ComponentInput } from "../component.ts";
import type { RbacRule, Service } from "../objects/kube-objects.ts";
import { daemonSet, everyTaint, fromField, nodeSetSelector, requests, unprivileged } from "../objects/pod-parts.ts";
import type { Container, HostPathType, Volume } from "../objects/pod-template.ts";
import { metricsService, prometheusObjects } from "./prometheus.ts";
import { goTlsFlags } from "../servers/tls-flags.ts";

const component = "metrics-exporter";
const name = "sriov-network-metrics-exporter";
const serviceAccount = "metrics-exporter-sa";

/** Names of upstream's objects. */
const kubeRbac = { role: "sriov-metrics-kube-rbac-role", binding: "sriov-metrics-kube-rbac-rolebinding" };
const privilegedRole = { role: "metrics-exporter-role", binding: "metrics-exporter-rb" };

/** The proxy authenticates and authorizes its clients through the API server. */
const reviewRules: readonly RbacRule[] = [
  { apiGroups: ["authentication.k8s.io"], resources: ["tokenreviews"], verbs: ["create"] },
  { apiGroups: ["authorization.k8s.io"], resources: ["subjectaccessreviews"], verbs: ["create"] },
];

export const metricsExporter: Component = {
  name: component,
  field: "spec.featureGates.metricsExporter",
  isWanted: ({ config }) => isGateOn("metricsExporter", config),
  needs: ["metricsExporter"],
  render(input) {
    const { secretName } = input.settings.metricsExporter;
    const hasProxy = input.settings.images.kubeRbacProxy !== undefined;
    return [
      ...accessObjects(
        component,
        {
          serviceAccount,
          inNamespace: { ...privilegedRole, rules: privilegedRules(input) },
          inCluster: { ...kubeRbac, rules: hasProxy ? reviewRules : [] },
        },
        input,
      ),
      serviceOf(input),
      ...prometheusObjects(input),
      daemonSet(
        namespaced(component, name, input),
        {
          app: name,
          securityContextConstraints: "privileged",
          spec: {
            serviceAccountName: serviceAccount,
            priorityClassName: "system-node-critical",
            hostNetwork: true,
            nodeSelector: nodeSetSelector(input),
            tolerations: everyTaint,
            containers: [exporter(input), ...proxies(input)],
            volumes: [
              ...hostFiles.map(({ volume, path, type }): Volume => {
                return { name: volume, hostPath: { path: pathOnNode(input.settings, path), type } };
              }),
              ...(hasProxy && secretName !== undefined ? [{ name: "metrics-certs", secret: { secretName } }] : []),
            ],
          },
        },
        input,
      ),
    ];
  },
};

function serviceOf(input: ComponentInput): Service {
  const { settings } = input;
  const { port, secretName } = settings.metricsExporter;
  const serviceCa: Readonly<Record<string, string>> =
    settings.clusterType === "openshift" && secretName !== undefined
      ? { "service.beta.openshift.io/serving-cert-secret-name": secretName }
      : {};
  const metadata = namespaced(component, metricsService, input);
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: {
      ...annotated(metadata, { "prometheus.io/target": "true", ...serviceCa }),
      labels: { ...metadata.labels, name: metricsService },
    },
    spec: {
      selector: { app: name },
      ports: [{ name: "sriov-network-metrics", protocol: "TCP", port, targetPort: port }],
    },
  };
}

/** Files of the node that the exporter reads. */
const hostFiles: readonly HostFile[] = [
  {
    volume: "kubeletsocket",
    mountPath: "/host/kubelet.sock",
    type: "Socket",
    path: `${kubeletMountPath}/pod-resources/kubelet.sock`,
  },
  {
    volume: "cpucheckpoint",
    mountPath: "/host/cpu_manager_state",
    type: "File",
    path: `${kubeletMountPath}/cpu_manager_state`,
  },
  {
    volume: "sysbuspcidevices",
    mountPath: "/host/sys/bus/pci/devices",
    type: "Directory",
    path: "/sys/bus/pci/devices",
  },
  { volume: "sysdevices", mountPath: "/host/sys/devices", path: "/sys/devices", type: "Directory" },
  { volume: "sysclassnet", mountPath: "/host/sys/class/net", path: "/sys/class/net", type: "Directory" },
];

interface HostFile {
  readonly volume: string;
  readonly path: string;
  readonly type: HostPathType;
  readonly mountPath: string;
}

function exporter({ settings }: ComponentInput): Container {
  const { port } = settings.metricsExporter;
  const host = settings.images.kubeRbacProxy === undefined ? "" : "127.0.0.1";
  return {
    name: "metrics-exporter",
    image: settings.images.metricsExporter ?? "",
    args: [
      `--web.listen-address=${host}:${port}`,
      "--path.kubecgroup=/sys/fs/cgroup",
      "--path.sysbuspci=/host/sys/bus/pci/devices/",
      "--path.sysclassnet=/host/sys/class/net/",
      "--path.cpucheckpoint=/host/cpu_manager_state",
      "--path.kubeletsocket=/host/kubelet.sock",
      "--collector.kubepoddevice=true",
      "--collector.vfstatspriority=netlink,sysfs",
    ],
    securityContext: {
      ...unprivileged,
      // SELinux does not allow a confined container to use the kubelet's socket.
      ...(settings.clusterType === "openshift" && { seLinuxOptions: { type: "spc_t" } }),
    },
    resources: requests("100m", "100Mi"),
    volumeMounts: hostFiles.map(({ volume, mountPath, type }) => ({
      name: volume,
      mountPath,
      ...(type !== "Socket" && { readOnly: true as const }),
    })),
  };
}

/**
 * Returns the proxy, if its image is set. It listens on the node's address and the exporter on the loopback address, so
 * both can use the same port. Without a Secret it creates its own certificate.
 */
function proxies({ settings }: ComponentInput): readonly Container[] {
  const { kubeRbacProxy: image } = settings.images;
  if (image === undefined) return [];
  const { port, secretName } = settings.metricsExporter;
  const files = ["--tls-private-key-file=/etc/metrics/tls.key", "--tls-cert-file=/etc/metrics/tls.crt"];
  return [
    {
      name: "kube-rbac-proxy",
      image,
      args: [
        `--secure-listen-address=[$(HOST_IP)]:${port}`,
        ...goTlsFlags(settings.tls), // the proxy has no flag for curves
        `--upstream=http://127.0.0.1:${port}/`,
        ...(secretName === undefined ? [] : files),
      ],
      env: [fromField("HOST_IP", "status.hostIP")],
      ports: [{ name: "https-metrics", containerPort: port, protocol: "TCP" }],
      securityContext: unprivileged,
      resources: requests("10m", "20Mi"),
      ...(secretName !== undefined && {
        volumeMounts: [{ name: "metrics-certs", mountPath: "/etc/metrics", readOnly: true as const }],
      }),
    },
  ];
}
