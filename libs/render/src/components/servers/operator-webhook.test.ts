// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import type { CertificateSource, ComponentSettings } from "../component-settings.ts";
import type { Manifest, Role, WebhookConfiguration } from "../objects/kube-objects.ts";
import { containerOf, envOf, objectsOf, podOf, settingsWith } from "../testing/deployment.ts";

function withCertificates(certificates: CertificateSource): Partial<ComponentSettings> {
  return { webhook: { ...settingsWith().webhook, certificates } };
}

function registrations(overrides: Partial<ComponentSettings> = {}): readonly WebhookConfiguration[] {
  return objectsOf("operator-webhook", {}, overrides).filter(isRegistration);
}

describe("the webhook's configurations", () => {
  it("are two with the same name, applied last", () => {
    const objects = objectsOf("operator-webhook");
    expect(objects.slice(-2)).toEqual(registrations());
    expect(registrations().map(({ kind, metadata }) => [kind, metadata.name])).toEqual([
      ["MutatingWebhookConfiguration", "sriov-operator-webhook-config"],
      ["ValidatingWebhookConfiguration", "sriov-operator-webhook-config"],
    ]);
  });

  it("cover all kinds that it reviews at its paths, and fail without a response", () => {
    const question = {
      name: "operator-webhook.sriovnetwork.openshift.io",
      failurePolicy: "Fail",
      sideEffects: "None",
      admissionReviewVersions: ["v1"],
      timeoutSeconds: 10,
    };
    const service = { name: "operator-webhook-service", namespace: "sriov", port: 443 };
    const asked = registrations().map(({ webhooks }) => webhooks);
    expect(asked).toMatchObject([
      [{ ...question, clientConfig: { service: { ...service, path: "/mutating-custom-resource" } } }],
      [{ ...question, clientConfig: { service: { ...service, path: "/validating-custom-resource" } } }],
    ]);
    const rules = asked.map((webhooks) =>
      webhooks.flatMap(({ rules }) =>
        rules.map(({ operations, resources, ...of }) => {
          const [groups, versions] = resources.some((resource) => resource.startsWith("afxdp"))
            ? [["afxdpnetwork.hns.dev"], ["v1alpha1"]]
            : [["sriovnetwork.openshift.io"], ["v1"]];
          expect(of).toEqual({ apiGroups: groups, apiVersions: versions, scope: "Namespaced" });
          return `${operations.join(" ")}: ${resources.join(" ")}`;
        }),
      ),
    );
    expect(rules).toEqual([
      ["CREATE UPDATE: sriovnetworknodepolicies"],
      [
        "CREATE UPDATE DELETE: sriovnetworknodepolicies sriovnetworkpoolconfigs sriovoperatorconfigs",
        "CREATE UPDATE: sriovnetworks sriovibnetworks ovsnetworks bridgenetworks",
        "CREATE UPDATE: afxdpnetworknodepolicies afxdpoperatorconfigs afxdpnetworks",
      ],
    ]);
  });

  it("exempt the operator and Kubernetes' deletions (sriov-operator.md M-50)", () => {
    for (const { webhooks } of registrations({ operatorServiceAccount: "me" })) {
      const [expression = "", ...more] = webhooks.flatMap(({ matchConditions = [] }) =>
        matchConditions.map((condition) => condition.expression),
      );
      expect(more).toEqual([]);
      const [, exempt = "[]"] = /^!\(request\.userInfo\.username in (\[.*\])\)$/.exec(expression) ?? [];
      expect(JSON.parse(exempt)).toEqual([
        "system:serviceaccount:sriov:me",
        "system:serviceaccount:kube-system:namespace-controller",
        "system:serviceaccount:kube-system:generic-garbage-collector",
        "system:kube-controller-manager",
      ]);
    }
  });

  it("cover neither status nor SriovNetworkNodeStates", () => {
    const resources = registrations().flatMap(({ webhooks }) =>
      webhooks.flatMap(({ rules }) => rules.flatMap((rule) => rule.resources)),
    );
    expect(resources).toContain("bridgenetworks");
    expect(resources.filter((resource) => resource.includes("/") || resource.includes("nodestates"))).toEqual([]);
  });

  it.each([
    { certificates: { kind: "self-made" }, annotations: undefined, caBundle: undefined },
    { certificates: { kind: "given", caBundle: "UEVN" }, annotations: undefined, caBundle: "UEVN" },
    {
      certificates: { kind: "cert-manager" },
      annotations: { "cert-manager.io/inject-ca-from": "sriov/operator-webhook-cert" },
      caBundle: undefined,
    },
    {
      certificates: { kind: "service-ca" },
      annotations: { "service.beta.openshift.io/inject-cabundle": "true" },
      caBundle: undefined,
    },
  ] as const)("have a caBundle only if it is given: $certificates.kind", ({ certificates, annotations, caBundle }) => {
    for (const { metadata, webhooks } of registrations(withCertificates(certificates))) {
      expect(metadata.annotations).toEqual(annotations);
      expect(webhooks.map(({ clientConfig }) => clientConfig.caBundle)).toEqual([caBundle]);
      expect(webhooks.every(({ clientConfig }) => "caBundle" in clientConfig === (caBundle !== undefined))).toBe(true);
    }
  });
});

describe("the secret path", () => {
  it("is in the registrations, and in the environment of pods whose certificate another program provides", () => {
    const path = "0123456789abcdef0123456789abcdef";
    const webhook = { ...withCertificates({ kind: "cert-manager" }).webhook, secretPath: path, podPath: path } as const;
    const overrides = { webhook } as Partial<ComponentSettings>;
    const paths = registrations(overrides).flatMap(({ webhooks }) =>
      webhooks.map((one) => one.clientConfig.service.path),
    );
    expect(paths).toEqual([`/${path}/mutating-custom-resource`, `/${path}/validating-custom-resource`]);
    const { env } = containerOf(podOf("operator-webhook", {}, overrides), "webhook-server");
    expect(env).toContainEqual({ name: "REVIEW_PATH", value: path });
  });
});

describe("the webhook's pods", () => {
  const container = (overrides: Partial<ComponentSettings> = {}) =>
    containerOf(podOf("operator-webhook", {}, overrides), "webhook-server");

  it.each<CertificateSource>([
    { kind: "self-made" },
    { kind: "given", caBundle: "UEVN" },
    { kind: "cert-manager" },
    { kind: "service-ca" },
  ])(
    "read their certificate from the mounted Secret of any source, and have no write access: $kind",
    (certificates) => {
      const overrides = withCertificates(certificates);
      expect(container(overrides).volumeMounts).toEqual([{ name: "tls", mountPath: "/etc/tls", readOnly: true }]);
      const volume = { name: "tls", secret: { secretName: "operator-webhook-cert" } };
      expect(podOf("operator-webhook", {}, overrides).spec.volumes).toEqual([volume]);
      const rules = objectsOf("operator-webhook", {}, overrides)
        .filter(isRole)
        .flatMap((role) => role.rules);
      expect(new Set(rules.flatMap(({ verbs }) => verbs))).toEqual(new Set(["get", "list", "watch"]));
      expect(rules.filter(({ resources }) => resources.includes("secrets"))).toEqual([]);
    },
  );

  it("serve reviews on the port of their Service, and probes and metrics on another", () => {
    expect(envOf(container())).toEqual({
      NAMESPACE: "metadata.namespace",
      LISTEN_ADDRESS: ":6443",
      HEALTH_ADDRESS: ":8444",
      METRICS_ADDRESS: ":8444",
      MALLOC_ARENA_MAX: "1",
      RESOURCE_PREFIX: "openshift.io",
    });
    // Three minutes for the start.
    expect(container().startupProbe).toMatchObject({
      httpGet: { path: "/healthz" },
      periodSeconds: 2,
      failureThreshold: 90,
    });
    expect(container().livenessProbe?.httpGet).toEqual({ path: "/healthz", port: 8444, scheme: "HTTP" });
    expect(container().readinessProbe?.httpGet).toEqual({ path: "/readyz", port: 8444, scheme: "HTTP" });
    const others = { devMode: true, resourcePrefix: "example.com" };
    expect(envOf(container(others))).toMatchObject({ DEV_MODE: "true", RESOURCE_PREFIX: "example.com" });
  });

  it("have environment variables with the TLS settings", () => {
    const suites = ["ECDHE-RSA-AES128-GCM-SHA256", "TLS_AES_128_GCM_SHA256"];
    const tls = { minVersion: "VersionTLS12", cipherSuites: suites, curvePreferences: ["X25519"] } as const;
    expect(envOf(container({ tls }))).toMatchObject({
      TLS_MIN_VERSION: "VersionTLS12",
      TLS_CIPHER_SUITES: suites.join(","),
      TLS_CURVE_PREFERENCES: "X25519",
    });
    expect(Object.keys(envOf(container())).filter((name) => name.startsWith("TLS_"))).toEqual([]);
  });

  it("run on control plane nodes, or on any node if there are none", () => {
    expect(podOf("operator-webhook").spec.affinity).toBeDefined();
    expect(podOf("operator-webhook", {}, { isControlPlaneExternal: true }).spec.affinity).toBeUndefined();
  });
});

function isRegistration(object: Manifest): object is WebhookConfiguration {
  return object.kind.endsWith("WebhookConfiguration");
}

function isRole(object: Manifest): object is Role {
  return object.kind === "Role" || object.kind === "ClusterRole";
}
