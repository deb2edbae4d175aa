// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import type { ComponentSettings } from "../component-settings.ts";
import { containerOf, envOf, objectsOf, podOf, settingsWith } from "../testing/deployment.ts";

const { images } = settingsWith();
const withoutProxy: Partial<ComponentSettings> = { images: { ...images, kubeRbacProxy: undefined } };
const prometheusOperator = { serviceAccount: "prometheus-k8s", namespace: "monitoring", deployRules: true };

const kindsOf = (overrides: Partial<ComponentSettings>) =>
  objectsOf("metrics-exporter", {}, overrides).map(({ kind, metadata }) => `${kind}/${metadata.name}`);

function endpoint(overrides: Partial<ComponentSettings>): unknown {
  return objectsOf("metrics-exporter", {}, overrides).find(({ kind }) => kind === "ServiceMonitor");
}

const serverName = "sriov-network-metrics-exporter-service.sriov.svc";
const openshiftBundle = "/etc/prometheus/configmaps/serving-certs-ca-bundle";

describe("the metrics exporter", () => {
  it("is only reachable through the proxy, if there is one", () => {
    const exporter = containerOf(podOf("metrics-exporter"), "metrics-exporter");
    expect(exporter.args).toContain("--web.listen-address=127.0.0.1:9110");
    expect(containerOf(podOf("metrics-exporter"), "kube-rbac-proxy").args).toContain(
      "--secure-listen-address=[$(HOST_IP)]:9110",
    );
  });

  it("mounts the node's files about VFs and no others", () => {
    const pod = podOf("metrics-exporter", {}, { metricsExporter: { port: 9999 } });
    const exporter = containerOf(pod, "metrics-exporter");
    expect(exporter.args).toEqual([
      ...["--web.listen-address=127.0.0.1:9999", "--path.kubecgroup=/sys/fs/cgroup"],
      ...["--path.sysbuspci=/host/sys/bus/pci/devices/", "--path.sysclassnet=/host/sys/class/net/"],
      ...["--path.cpucheckpoint=/host/cpu_manager_state", "--path.kubeletsocket=/host/kubelet.sock"],
      ...["--collector.kubepoddevice=true", "--collector.vfstatspriority=netlink,sysfs"],
    ]);
    const hostPaths = (pod.spec.volumes ?? []).flatMap((volume) => ("hostPath" in volume ? [volume.hostPath] : []));
    expect(hostPaths).toEqual([
      { path: "/var/lib/kubelet/pod-resources/kubelet.sock", type: "Socket" },
      { path: "/var/lib/kubelet/cpu_manager_state", type: "File" },
      { path: "/sys/bus/pci/devices", type: "Directory" },
      { path: "/sys/devices", type: "Directory" },
      { path: "/sys/class/net", type: "Directory" },
    ]);
    const mounts = (exporter.volumeMounts ?? []).map(({ mountPath, readOnly = false }) => [mountPath, readOnly]);
    expect(mounts).toEqual([
      ["/host/kubelet.sock", false],
      ["/host/cpu_manager_state", true],
      ["/host/sys/bus/pci/devices", true],
      ["/host/sys/devices", true],
      ["/host/sys/class/net", true],
    ]);
    expect(pod.spec.hostNetwork).toBe(true);
    expect(exporter.securityContext).toMatchObject({
      allowPrivilegeEscalation: false,
      capabilities: { drop: ["ALL"] },
    });
  });

  it("is found by Prometheus, which keeps the labels of the VFs' pods", () => {
    const overrides = { metricsExporter: { port: 9110, prometheusOperator } };
    const objects = objectsOf("metrics-exporter", {}, overrides);
    expect(
      objects.find(({ kind, metadata }) => kind === "RoleBinding" && metadata.name === "prometheus-k8s"),
    ).toMatchObject({
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "prometheus-k8s" },
      subjects: [{ kind: "ServiceAccount", name: "prometheus-k8s", namespace: "monitoring" }],
    });
    expect(endpoint(overrides)).toMatchObject({
      apiVersion: "monitoring.coreos.com/v1",
      spec: {
        endpoints: [
          {
            port: "sriov-network-metrics",
            interval: "30s",
            honorLabels: true,
            relabelings: [
              { action: "replace", sourceLabels: ["__meta_kubernetes_pod_node_name"], targetLabel: "node" },
              { action: "labeldrop", regex: "pod" },
              { action: "labeldrop", regex: "container" },
              { action: "labeldrop", regex: "namespace" },
            ],
            bearerTokenFile: "/var/run/secrets/kubernetes.io/serviceaccount/token",
          },
        ],
        namespaceSelector: { matchNames: ["sriov"] },
        selector: { matchLabels: { name: "sriov-network-metrics-exporter-service" } },
      },
    });
  });

  it("joins the counters of VFs with the pods that use them", () => {
    const objects = objectsOf("metrics-exporter", {}, { metricsExporter: { port: 9110, prometheusOperator } });
    const text = JSON.stringify(objects.find(({ kind }) => kind === "PrometheusRule"));
    const records = [...text.matchAll(/"record":"([^"]+)","expr":"(\w+) \* on \(pciAddr, node\)/g)];
    expect(records.map(([, record, counter]) => [record, counter])).toEqual(
      [
        "tx_packets",
        "rx_packets",
        "tx_bytes",
        "rx_bytes",
        "tx_dropped",
        "rx_dropped",
        "rx_broadcast",
        "rx_multicast",
      ].map((counter) => [`network:sriov_vf_${counter}`, `sriov_vf_${counter}`]),
    );
  });

  it("has a proxy that serves TLS on the node's address, with the certificate of its Secret or its own", () => {
    const tls = { minVersion: "VersionTLS13", cipherSuites: [], curvePreferences: ["X25519"] } as const;
    const args = (of: readonly string[]) => [
      ...["--secure-listen-address=[$(HOST_IP)]:9110", "--tls-min-version=VersionTLS13"],
      ...["--upstream=http://127.0.0.1:9110/", ...of],
    ];
    const without = podOf("metrics-exporter", {}, { tls });
    const proxy = containerOf(without, "kube-rbac-proxy");
    expect([proxy.args, envOf(proxy), proxy.volumeMounts]).toEqual([args([]), { HOST_IP: "status.hostIP" }, undefined]);
    expect(proxy.ports).toEqual([{ name: "https-metrics", containerPort: 9110, protocol: "TCP" }]);
    const pod = podOf("metrics-exporter", {}, { tls, metricsExporter: { port: 9110, secretName: "cert" } });
    const files = ["--tls-private-key-file=/etc/metrics/tls.key", "--tls-cert-file=/etc/metrics/tls.crt"];
    expect(containerOf(pod, "kube-rbac-proxy")).toMatchObject({
      args: args(files),
      volumeMounts: [{ name: "metrics-certs", mountPath: "/etc/metrics", readOnly: true }],
    });
    expect(pod.spec.volumes).toContainEqual({ name: "metrics-certs", secret: { secretName: "cert" } });
  });

  it("is allowed to use the kubelet's socket on OpenShift", () => {
    const contextOn = (clusterType: "kubernetes" | "openshift") =>
      containerOf(podOf("metrics-exporter", {}, { clusterType }), "metrics-exporter").securityContext;
    expect(contextOn("openshift").seLinuxOptions).toEqual({ type: "spc_t" });
    expect(contextOn("kubernetes").seLinuxOptions).toBeUndefined();
  });

  it("serves metrics itself without a proxy, and then has no rights", () => {
    const pod = podOf("metrics-exporter", {}, withoutProxy);
    expect(pod.spec.containers.map(({ name }) => name)).toEqual(["metrics-exporter"]);
    expect(containerOf(pod, "metrics-exporter").args).toContain("--web.listen-address=:9110");
    expect(kindsOf(withoutProxy).filter((label) => label.includes("Role"))).toEqual([]);
  });

  it("has objects for a Prometheus operator if there is one", () => {
    const metricsExporter = { port: 9110, prometheusOperator };
    const added = kindsOf({ metricsExporter }).filter((label) => !kindsOf({}).includes(label));
    expect(added).toEqual([
      "Role/prometheus-k8s",
      "RoleBinding/prometheus-k8s",
      "ServiceMonitor/sriov-network-metrics-exporter",
      "PrometheusRule/sriov-vf-rules",
    ]);
    const withoutRules = { port: 9110, prometheusOperator: { ...prometheusOperator, deployRules: false } };
    expect(kindsOf({ metricsExporter: withoutRules })).not.toContain("PrometheusRule/sriov-vf-rules");
  });

  it.each([
    {
      what: "with the CA of the Secret",
      overrides: { metricsExporter: { port: 9110, secretName: "cert", prometheusOperator } },
      transport: { scheme: "https", tlsConfig: { serverName, ca: { secret: { name: "cert", key: "ca.crt" } } } },
    },
    {
      what: "with OpenShift's CA",
      overrides: {
        clusterType: "openshift",
        metricsExporter: { port: 9110, secretName: "cert", prometheusOperator },
      },
      transport: { scheme: "https", tlsConfig: { serverName, caFile: `${openshiftBundle}/service-ca.crt` } },
    },
    {
      what: "not at all if the proxy creates its own certificate",
      overrides: { metricsExporter: { port: 9110, prometheusOperator } },
      transport: { scheme: "https", tlsConfig: { insecureSkipVerify: true } },
    },
    {
      what: "not at all without a proxy, because there is no TLS",
      overrides: { ...withoutProxy, metricsExporter: { port: 9110, prometheusOperator } },
      transport: { scheme: "http" },
    },
  ] as const)("is trusted by Prometheus $what", ({ overrides, transport }) => {
    expect(endpoint(overrides)).toMatchObject({ spec: { endpoints: [transport] } });
  });
});
