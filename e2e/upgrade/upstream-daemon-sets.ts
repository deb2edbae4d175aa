// SPDX-License-Identifier: Apache-2.0
/**
 * The DaemonSets that upstream's operator 1.6 leaves. Their pods have what Switchyard's must not have: upstream's
 * arguments, a preStop hook, a ConfigMap, and the labels by which upstream detects changes (sriov-operator.md C, H).
 */
import { labels } from "@switchyard/api";
import { namespace } from "@switchyard/test-cluster";
import { foreignImages, upstreamImages } from "./deployed-operator.ts";
import type { NewObject } from "../src/operator/upstream-cluster.ts";

const worker = { "kubernetes.io/os": "linux", "node-role.kubernetes.io/worker": "" };

/** Returns a DaemonSet whose selector is the label `app`, as in Switchyard. */
function daemonSet(app: string, spec: object, of: { readonly podLabels?: object; readonly scc: string }): NewObject {
  const podLabels = { app, component: "network", type: "infra", "openshift.io/component": "network", ...of.podLabels };
  const annotations = { "release.openshift.io/version": "", "kubernetes.io/description": `upstream's ${app}` };
  return {
    metadata: { name: app, namespace, labels: { app }, annotations },
    spec: {
      selector: { matchLabels: { app } },
      updateStrategy: { type: "RollingUpdate", rollingUpdate: { maxUnavailable: "33%" } },
      template: { metadata: { labels: podLabels, annotations: { "openshift.io/required-scc": of.scc } }, spec },
    },
  };
}

const requests = (cpu: string, memory: string) => ({ resources: { requests: { cpu, memory } } });
const fromField = (name: string, fieldPath: string) => ({ name, valueFrom: { fieldRef: { fieldPath } } });
const nodeName = fromField("NODE_NAME", "spec.nodeName");
const ownNamespace = fromField("NAMESPACE", "metadata.namespace");
const hostPath = (name: string, path: string, type?: string) => ({ name, hostPath: { path, ...(type && { type }) } });
const mount = (name: string, mountPath: string, readOnly = false) => ({ name, mountPath, readOnly });
const onEveryNode = {
  hostNetwork: true,
  priorityClassName: "system-node-critical",
  tolerations: [{ operator: "Exists" }],
};

function cniInstaller(name: string, image: string, start: object = { args: ["--no-sleep"] }): object {
  const volumeMounts = [mount("cnibin", "/host/opt/cni/bin"), mount("os-release", "/host/etc/os-release", true)];
  return { name, image, ...start, securityContext: { privileged: true }, ...requests("10m", "10Mi"), volumeMounts };
}

function configDaemon(): NewObject {
  const copyOvs = "cp /ovs /host/opt/cni/bin/ovs";
  const container = {
    name: "sriov-network-config-daemon",
    image: upstreamImages.SRIOV_NETWORK_CONFIG_DAEMON_IMAGE,
    command: ["sriov-network-config-daemon"],
    args: ["start", "--manage-software-bridges"],
    securityContext: { privileged: true, readOnlyRootFilesystem: true },
    env: [
      nodeName,
      ownNamespace,
      { name: "CLUSTER_TYPE", value: "kubernetes" },
      { name: "DEV_MODE", value: "" },
      { name: "SRIOV_CONF_BASE_PATH", value: "/etc/sriov-operator" },
    ],
    ...requests("100m", "100Mi"),
    volumeMounts: [mount("host", "/host"), mount("tmp", "/tmp")],
    lifecycle: { preStop: { exec: { command: ["/bindata/scripts/clean-k8s-services.sh"] } } },
  };
  const spec = {
    ...onEveryNode,
    hostPID: true,
    nodeSelector: worker,
    serviceAccountName: container.name,
    initContainers: [
      cniInstaller("sriov-cni", foreignImages.SRIOV_CNI_IMAGE),
      cniInstaller("sriov-infiniband-cni", foreignImages.SRIOV_INFINIBAND_CNI_IMAGE),
      cniInstaller("ovs-cni", foreignImages.OVS_CNI_IMAGE, { command: ["/bin/sh", "-c"], args: [copyOvs] }),
      cniInstaller("rdma-cni", foreignImages.RDMA_CNI_IMAGE),
    ],
    containers: [container],
    volumes: [
      hostPath("host", "/"),
      hostPath("cnibin", "/opt/cni/bin"),
      hostPath("os-release", "/etc/os-release", "File"),
      { name: "tmp", emptyDir: {} },
    ],
  };
  return daemonSet(container.name, spec, { scc: "privileged" });
}

function devicePlugin(): NewObject {
  const waiting = ["--pod-name=$(POD_NAME)", "--pod-namespace=$(NAMESPACE)"];
  const spec = {
    ...onEveryNode,
    serviceAccountName: "sriov-device-plugin",
    nodeSelector: { ...worker, [labels.devicePlugin]: "Enabled" },
    initContainers: [
      {
        name: "sriov-device-plugin-init",
        image: upstreamImages.SRIOV_NETWORK_CONFIG_DAEMON_IMAGE,
        command: ["sriov-network-config-daemon"],
        args: ["wait-for-config", ...waiting],
        env: [fromField("POD_NAME", "metadata.name"), ownNamespace],
        ...requests("10m", "50Mi"),
      },
    ],
    containers: [
      {
        name: "sriov-device-plugin",
        image: foreignImages.SRIOV_DEVICE_PLUGIN_IMAGE,
        args: ["--log-level=10", "--resource-prefix=openshift.io", "--config-file=/etc/pcidp/$(NODE_NAME)"],
        env: [nodeName],
        securityContext: { privileged: true, readOnlyRootFilesystem: true },
        ...requests("10m", "50Mi"),
        volumeMounts: [
          mount("devicesock", "/var/lib/kubelet/device-plugins"),
          mount("plugins-registry", "/var/lib/kubelet/plugins_registry"),
          mount("config-volume", "/etc/pcidp/", true),
          mount("device-info", "/var/run/k8s.cni.cncf.io/devinfo/dp"),
        ],
      },
    ],
    volumes: [
      hostPath("devicesock", "/var/lib/kubelet/device-plugins"),
      hostPath("plugins-registry", "/var/lib/kubelet/plugins_registry"),
      { name: "config-volume", configMap: { name: "device-plugin-config" } },
      hostPath("device-info", "/var/run/k8s.cni.cncf.io/devinfo/dp", "DirectoryOrCreate"),
    ],
  };
  return daemonSet("sriov-device-plugin", spec, { scc: "privileged", podLabels: { "init-container-enabled": "true" } });
}

/** Returns the DaemonSet of the webhook or the injector. `flags` does not include the flags that both have. */
function admissionServer(app: string, image: string, secretName: string, args: readonly string[]): NewObject {
  const roles = ["node-role.kubernetes.io/master", "node-role.kubernetes.io/control-plane"];
  const nodeSelectorTerms = roles.map((key) => ({ matchExpressions: [{ key, operator: "Exists" }] }));
  const spec = {
    serviceAccountName: `${app}-sa`,
    priorityClassName: "system-cluster-critical",
    securityContext: { runAsNonRoot: true },
    nodeSelector: { "kubernetes.io/os": "linux" },
    affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } },
    tolerations: [...roles, "node.kubernetes.io/not-ready"].map((key) => {
      return { key, operator: "Exists", effect: "NoSchedule" };
    }),
    containers: [
      {
        name: "webhook-server",
        image,
        imagePullPolicy: "Always",
        command: ["webhook"],
        args: [...args, "--tls-private-key-file=/etc/tls/tls.key", "--tls-cert-file=/etc/tls/tls.crt"],
        env: [ownNamespace, { name: "DEV_MODE", value: "" }],
        securityContext: { readOnlyRootFilesystem: true, allowPrivilegeEscalation: false },
        ...requests("10m", "50Mi"),
        volumeMounts: [mount("tls", "/etc/tls")],
      },
    ],
    volumes: [{ name: "tls", secret: { secretName } }],
  };
  return daemonSet(app, spec, { scc: "restricted-v2" });
}

function metricsExporter(): NewObject {
  const host = [
    { ...hostPath("kubeletsocket", "/var/lib/kubelet/pod-resources/kubelet.sock", "Socket"), at: "/host/kubelet.sock" },
    { ...hostPath("sysclassnet", "/sys/class/net", "Directory"), at: "/host/sys/class/net" },
  ];
  const spec = {
    ...onEveryNode,
    nodeSelector: worker,
    serviceAccountName: "metrics-exporter-sa",
    containers: [
      {
        name: "metrics-exporter",
        image: foreignImages.METRICS_EXPORTER_IMAGE,
        imagePullPolicy: "IfNotPresent",
        args: ["--web.listen-address=127.0.0.1:9110", "--collector.kubepoddevice=true"],
        ...requests("100m", "100Mi"),
        volumeMounts: host.map(({ name, at }) => mount(name, at, true)),
      },
      {
        name: "kube-rbac-proxy",
        image: foreignImages.METRICS_EXPORTER_KUBE_RBAC_PROXY_IMAGE,
        args: ["--logtostderr", "--secure-listen-address=[$(HOST_IP)]:9110", "--upstream=http://127.0.0.1:9110/"],
        ports: [{ name: "https-metrics", containerPort: 9110 }],
        env: [fromField("HOST_IP", "status.hostIP")],
        ...requests("10m", "20Mi"),
        volumeMounts: [mount("metrics-certs", "/etc/metrics", true)],
      },
    ],
    volumes: [
      ...host.map(({ at: _, ...volume }) => volume),
      { name: "metrics-certs", secret: { defaultMode: 0o644, secretName: "metrics-exporter-cert" } },
    ],
  };
  return daemonSet("sriov-network-metrics-exporter", spec, { scc: "privileged" });
}

/** Returns the DaemonSets of release 1.6. */
export function upstreamDaemonSets(): readonly NewObject[] {
  const webhook = ["start", "--port=6443", "--alsologtostderr=true", "--v=3"];
  const injector = ["-bind-address=0.0.0.0", "-port=6443", "-alsologtostderr=true", "-insecure=true"];
  const { NETWORK_RESOURCES_INJECTOR_IMAGE: injectorImage } = foreignImages;
  return [
    configDaemon(),
    devicePlugin(),
    admissionServer("operator-webhook", upstreamImages.SRIOV_NETWORK_WEBHOOK_IMAGE, "operator-webhook-cert", webhook),
    admissionServer("network-resources-injector", injectorImage, "network-resources-injector-cert", injector),
    metricsExporter(),
  ];
}

/**
 * The DaemonSet that installed the CNI plugins before init containers of the config daemon did. Upstream leaves it
 * behind in an update.
 */
export function formerCniDaemonSet(): NewObject {
  const volumes = [hostPath("cnibin", "/opt/cni/bin"), hostPath("os-release", "/etc/os-release", "File")];
  const containers = [cniInstaller("sriov-cni", foreignImages.SRIOV_CNI_IMAGE, {})];
  const spec = { ...onEveryNode, nodeSelector: worker, serviceAccountName: "sriov-cni", containers, volumes };
  return daemonSet("sriov-cni", spec, { scc: "privileged" });
}
