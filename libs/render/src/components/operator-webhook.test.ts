// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import type { CertificateSource, ComponentSettings } from "./component-settings.ts";
import type { Role, WebhookConfiguration } from "./kube-objects.ts";
import type { Manifest } from "./manifest.ts";
import { containerOf, envOf, objectsOf, podOf, settingsWith } from "./testing/deployment.ts";

function withCertificates(certificates: CertificateSource): Partial<ComponentSettings> {
  return { webhook: { ...settingsWith().webhook, certificates } };
}

function registrations(overrides: Partial<ComponentSettings> = {}): readonly WebhookConfiguration[] {
  return objectsOf("operator-webhook", {}, overrides).filter(isRegistration);
}

describe("the webhook's registrations", () => {
  it("are two of the same name, which are made last", () => {
    const objects = objectsOf("operator-webhook");
    expect(objects.slice(-2)).toEqual(registrations());
    expect(registrations().map(({ kind, metadata }) => [kind, metadata.name])).toEqual([
      ["MutatingWebhookConfiguration", "sriov-operator-webhook-config"],
      ["ValidatingWebhookConfiguration", "sriov-operator-webhook-config"],
    ]);
  });

  it("ask about no status and no SriovNetworkNodeState", () => {
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
  ] as const)(
    "say whom to trust only where it is known: $certificates.kind",
    ({ certificates, annotations, caBundle }) => {
      for (const { metadata, webhooks } of registrations(withCertificates(certificates))) {
        expect(metadata.annotations).toEqual(annotations);
        expect(webhooks.map(({ clientConfig }) => clientConfig.caBundle)).toEqual([caBundle]);
        expect(webhooks.every(({ clientConfig }) => "caBundle" in clientConfig === (caBundle !== undefined))).toBe(
          true,
        );
      }
    },
  );
});

describe("the webhook's pods", () => {
  const container = (overrides: Partial<ComponentSettings> = {}) =>
    containerOf(podOf("operator-webhook", {}, overrides), "webhook-server");

  it("make their certificate where nobody else does, and may then write it and announce it", () => {
    expect(envOf(container())).toMatchObject({ CERTIFICATE_SECRET: "operator-webhook-cert" });
    expect(container().volumeMounts).toBeUndefined();
    const secret = (overrides?: Partial<ComponentSettings>) =>
      objectsOf("operator-webhook", {}, overrides)
        .filter(isRole)
        .some(({ rules }) => rules.some(({ resources }) => resources.includes("secrets")));
    expect(secret()).toBe(true);
    const given = withCertificates({ kind: "given", caBundle: "UEVN" });
    expect(secret(given)).toBe(false);
    expect(envOf(container(given))).not.toHaveProperty("CERTIFICATE_SECRET");
    expect(container(given).volumeMounts).toEqual([{ name: "tls", mountPath: "/etc/tls", readOnly: true }]);
  });

  it("serve TLS as upstream's environment asks, but no version below 1.2", () => {
    const tls = { minVersion: "VersionTLS10", cipherSuites: ["A", "B"], curvePreferences: ["X25519"] };
    expect(envOf(container({ tls }))).toMatchObject({
      ...{ TLS_MIN_VERSION: "VersionTLS12", TLS_CIPHER_SUITES: "A,B", TLS_CURVE_PREFERENCES: "X25519" },
      MALLOC_ARENA_MAX: "1",
      RESOURCE_PREFIX: "openshift.io",
    });
    expect(Object.keys(envOf(container())).filter((name) => name.startsWith("TLS_"))).toEqual([]);
  });

  it("run beside the API server, or anywhere where that is somebody else's", () => {
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
