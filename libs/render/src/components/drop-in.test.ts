// SPDX-License-Identifier: Apache-2.0
/** Tests the properties of upstream's objects on which manifests, dashboards, network policies and scripts rely (sriov-operator.md H). */
import { describe, expect, it } from "@jest/globals";
import { componentImageVariables, type ComponentSettings } from "./component-settings.ts";
import { renderComponents } from "./render-components.ts";
import { componentNames } from "./rendered-components.ts";
import {
  configWith,
  containerOf,
  everyComponent,
  isDaemonSet,
  objectsOf,
  podOf,
  settingsWith,
} from "./testing/deployment.ts";

const withDaemonSet = componentNames.filter((name) => name !== "node-identity");

function everything(overrides: Partial<ComponentSettings> = {}) {
  const { components } = renderComponents({ sriov: configWith(everyComponent) }, settingsWith(overrides));
  return components.flatMap(({ objects }) => objects);
}

function find(kind: string, name: string, overrides: Partial<ComponentSettings> = {}): unknown {
  return everything(overrides).find((object) => object.kind === kind && object.metadata.name === name);
}

describe("names", () => {
  it("are upstream's, except for admission policies and the right to read ResourceSlices, which upstream does not have", () => {
    const names = everything()
      .filter(({ kind }) => !kind.startsWith("ValidatingAdmissionPolicy"))
      .map(({ kind, metadata }) => `${kind}/${metadata.name}`);
    expect(names).toEqual([
      "ServiceAccount/operator-webhook-sa",
      "Role/operator-webhook",
      "RoleBinding/operator-webhook-role-binding",
      "ClusterRole/operator-webhook",
      "ClusterRoleBinding/operator-webhook-role-binding",
      "Service/operator-webhook-service",
      "NetworkPolicy/operator-webhook-allow-traffic-api-server",
      "DaemonSet/operator-webhook",
      "MutatingWebhookConfiguration/sriov-operator-webhook-config",
      "ValidatingWebhookConfiguration/sriov-operator-webhook-config",
      "ServiceAccount/network-resources-injector-sa",
      "Role/network-resources-injector",
      "RoleBinding/network-resources-injector-role-binding",
      "ClusterRole/network-resources-injector",
      "ClusterRoleBinding/network-resources-injector-role-binding",
      "ConfigMap/nri-control-switches",
      "Service/network-resources-injector-service",
      "NetworkPolicy/network-resources-injector-allow-traffic-api-server",
      "DaemonSet/network-resources-injector",
      "MutatingWebhookConfiguration/network-resources-injector-config",
      "ServiceAccount/sriov-network-config-daemon",
      "Role/sriov-network-config-daemon",
      "RoleBinding/sriov-network-config-daemon",
      "ClusterRole/sriov-network-config-daemon",
      "ClusterRoleBinding/sriov-network-config-daemon",
      "DaemonSet/sriov-network-config-daemon",
      "ServiceAccount/sriov-device-plugin",
      "Role/sriov-plugin",
      "RoleBinding/sriov-device-plugin",
      "ClusterRole/sriov-device-plugin",
      "ClusterRoleBinding/sriov-device-plugin",
      "DaemonSet/sriov-device-plugin",
      "ServiceAccount/metrics-exporter-sa",
      "ClusterRole/sriov-metrics-kube-rbac-role",
      "ClusterRoleBinding/sriov-metrics-kube-rbac-rolebinding",
      "Service/sriov-network-metrics-exporter-service",
      "DaemonSet/sriov-network-metrics-exporter",
    ]);
  });
});

describe("objects", () => {
  it("have labels of the operator and the component, and are owned by the config", () => {
    for (const name of componentNames) {
      for (const { metadata } of objectsOf(name)) {
        expect(metadata.labels).toMatchObject({
          "app.kubernetes.io/managed-by": "switchyard-operator",
          "app.kubernetes.io/component": name,
        });
        const owner = { apiVersion: "sriovnetwork.openshift.io/v1", kind: "SriovOperatorConfig", name: "default" };
        const owners = [{ ...owner, uid: "uid-1", controller: true, blockOwnerDeletion: true }];
        expect(metadata.ownerReferences).toEqual(metadata.namespace === undefined ? undefined : owners);
      }
    }
  });
});

describe("DaemonSets", () => {
  it("select their pods by their own name, and update a third of them at a time", () => {
    for (const { metadata, spec } of everything().filter(isDaemonSet)) {
      expect(spec.selector.matchLabels).toEqual({ app: metadata.name });
      const app = metadata.name;
      const labels = { app, component: "network", type: "infra", "openshift.io/component": "network" };
      expect(spec.template.metadata.labels).toEqual(labels);
      const [first] = spec.template.spec.containers;
      expect(spec.template.metadata.annotations?.["kubectl.kubernetes.io/default-container"]).toBe(first?.name);
      expect(spec.updateStrategy).toEqual({ type: "RollingUpdate", rollingUpdate: { maxUnavailable: "33%" } });
    }
  });

  it("of nodes tolerate all taints, and have a critical priority", () => {
    for (const name of [
      "config-daemon",
      "device-plugin",
      "afxdp-device-plugin",
      "afxdp-plugins",
      "metrics-exporter",
    ] as const) {
      const { tolerations, priorityClassName } = podOf(name).spec;
      expect([tolerations, priorityClassName]).toEqual([[{ operator: "Exists" }], "system-node-critical"]);
    }
  });

  it.each(["operator-webhook", "network-resources-injector"] as const)("of %s run on control plane nodes", (name) => {
    const { tolerations, priorityClassName, nodeSelector, affinity } = podOf(name).spec;
    expect([nodeSelector, priorityClassName]).toEqual([{ "kubernetes.io/os": "linux" }, "system-cluster-critical"]);
    const roles = ["node-role.kubernetes.io/master", "node-role.kubernetes.io/control-plane"];
    const tolerated = tolerations?.map(({ key, operator, effect }) => [key, operator, effect]);
    // Upstream tolerates NoSchedule of the roles only; a toleration without effect includes it.
    const anyEffect = [...roles, "node-role.kubernetes.io/etcd", "CriticalAddonsOnly"];
    expect(tolerated).toEqual([
      ...anyEffect.map((key) => [key, "Exists", undefined]),
      ["node.kubernetes.io/not-ready", "Exists", "NoSchedule"],
    ]);
    const nodeSelectorTerms = roles.map((key) => ({ matchExpressions: [{ key, operator: "Exists" }] }));
    expect(affinity).toEqual({
      nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } },
    });
    const elsewhere = podOf(name, {}, { isControlPlaneExternal: true }).spec;
    expect([elsewhere.affinity, elsewhere.tolerations]).toEqual([undefined, undefined]);
  });

  it("request few resources and set no limits, except for the memory of the server that any pod can reach", () => {
    for (const name of withDaemonSet) {
      const { initContainers = [], containers } = podOf(name).spec;
      for (const { resources } of [...initContainers, ...containers]) {
        const quantities = { cpu: expect.stringMatching(/^\d+m$/), memory: expect.stringMatching(/^\d+Mi$/) };
        const limits = name === "operator-webhook" ? { limits: { memory: "1Gi" } } : {};
        expect(resources).toEqual({ requests: quantities, ...limits });
      }
    }
  });

  it("give no privileges to containers that need none", () => {
    const none = {
      readOnlyRootFilesystem: true,
      allowPrivilegeEscalation: false,
      capabilities: { drop: ["ALL"] },
      seccompProfile: { type: "RuntimeDefault" },
    };
    for (const [name, container] of [
      ["operator-webhook", "webhook-server"],
      ["network-resources-injector", "webhook-server"],
      ["metrics-exporter", "metrics-exporter"],
      ["metrics-exporter", "kube-rbac-proxy"],
    ] as const) {
      expect(containerOf(podOf(name), container).securityContext).toEqual(none);
    }
  });

  it("have liveness probes that kill no process that is only slow", () => {
    for (const name of withDaemonSet) {
      const probes = podOf(name).spec.containers.flatMap((container) => container.livenessProbe ?? []);
      for (const { httpGet: _, ...timing } of probes) {
        expect(timing).toEqual({ periodSeconds: 20, timeoutSeconds: 10, failureThreshold: 6 });
      }
    }
  });

  it("use the image pull secrets of the operator's settings", () => {
    for (const name of withDaemonSet) {
      expect(podOf(name, {}, { imagePullSecrets: ["a", "b"] }).spec.imagePullSecrets).toEqual([
        ...[{ name: "a" }, { name: "b" }],
      ]);
      expect(podOf(name).spec).not.toHaveProperty("imagePullSecrets");
    }
  });

  it("require a security context constraint on OpenShift only", () => {
    const constraints = (clusterType: "kubernetes" | "openshift") =>
      Object.fromEntries(
        withDaemonSet.map((name) => {
          const { annotations = {} } = podOf(name, {}, { clusterType }).metadata;
          return [name, annotations["openshift.io/required-scc"]];
        }),
      );
    const openshift = {
      "operator-webhook": "restricted-v2",
      "network-resources-injector": "restricted-v2",
      "config-daemon": "privileged",
      "device-plugin": "privileged",
      "dra-driver": "privileged",
      "metrics-exporter": "privileged",
      "afxdp-device-plugin": "privileged",
      "afxdp-plugins": "privileged",
    };
    expect(constraints("openshift")).toEqual(openshift);
    expect(Object.values(constraints("kubernetes"))).toEqual(withDaemonSet.map(() => undefined));
    for (const name of ["config-daemon", "device-plugin", "metrics-exporter"] as const) {
      const uses = JSON.stringify(objectsOf(name, {}, { clusterType: "openshift" }));
      expect(uses).toContain('"resourceNames":["privileged"],"verbs":["use"]');
      expect(JSON.stringify(objectsOf(name))).not.toContain("securitycontextconstraints");
    }
  });
});

it("images come from the operator's environment variables that upstream's chart sets", () => {
  expect(Object.values(componentImageVariables)).toEqual(
    expect.arrayContaining([
      ...["SRIOV_CNI_IMAGE", "SRIOV_INFINIBAND_CNI_IMAGE", "OVS_CNI_IMAGE", "RDMA_CNI_IMAGE"],
      ...["SRIOV_DEVICE_PLUGIN_IMAGE", "SRIOV_NETWORK_CONFIG_DAEMON_IMAGE", "SRIOV_NETWORK_WEBHOOK_IMAGE"],
      ...["NETWORK_RESOURCES_INJECTOR_IMAGE", "METRICS_EXPORTER_IMAGE", "METRICS_EXPORTER_KUBE_RBAC_PROXY_IMAGE"],
    ]),
  );
});

describe("Services and network policies", () => {
  it.each(["operator-webhook", "network-resources-injector"])("allow only the connections of %s", (app) => {
    const server = { certificates: { kind: "self-made" }, port: 443 } as const;
    const overrides = {
      webhook: { ...server, secretName: "webhook-cert" },
      injector: { ...server, secretName: "injector-cert" },
    };
    expect(find("Service", `${app}-service`, overrides)).toMatchObject({
      spec: { selector: { app }, ports: [{ protocol: "TCP", port: 443, targetPort: 6443 }] },
    });
    expect(find("NetworkPolicy", `${app}-allow-traffic-api-server`, overrides)).toMatchObject({
      spec: {
        podSelector: { matchLabels: { app } },
        policyTypes: ["Ingress", "Egress"],
        ingress: [{ ports: [6443, 8444].map((port) => ({ protocol: "TCP", port })) }],
        egress: [{ ports: [{ protocol: "TCP", port: 443 }] }],
      },
    });
  });

  it.each([
    { kind: "service-ca", annotation: "cert" },
    { kind: "cert-manager", annotation: undefined },
  ] as const)(
    "have the annotation for OpenShift's service CA if it creates the certificates: $kind",
    ({ kind, annotation }) => {
      const overrides = { webhook: { certificates: { kind }, secretName: "cert", port: 6443 } };
      const service = objectsOf("operator-webhook", {}, overrides).find((object) => object.kind === "Service");
      expect(service?.metadata.annotations?.["service.beta.openshift.io/serving-cert-secret-name"]).toBe(annotation);
    },
  );

  it("let Prometheus find the exporter", () => {
    const metricsExporter = { port: 9999, secretName: "cert" };
    const name = "sriov-network-metrics-exporter-service";
    const service = find("Service", name, { metricsExporter, clusterType: "openshift" });
    const ports = [{ name: "sriov-network-metrics", protocol: "TCP", port: 9999, targetPort: 9999 }];
    expect(service).toMatchObject({
      metadata: {
        labels: { name },
        annotations: {
          "prometheus.io/target": "true",
          "service.beta.openshift.io/serving-cert-secret-name": "cert",
        },
      },
      spec: { selector: { app: "sriov-network-metrics-exporter" }, ports },
    });
    expect(JSON.stringify(find("Service", name, { metricsExporter }))).not.toContain("serving-cert");
  });
});
