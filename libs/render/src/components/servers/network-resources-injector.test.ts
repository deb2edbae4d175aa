// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import type { Manifest, WebhookConfiguration } from "../objects/kube-objects.ts";
import { renderComponents } from "../render-components.ts";
import { configWith, containerOf, objectsOf, podOf, settingsWith } from "../testing/deployment.ts";

function webhook(resourceInjectorMatchCondition: boolean) {
  const objects = objectsOf("network-resources-injector", { featureGates: { resourceInjectorMatchCondition } });
  return objects.find(isRegistration)?.webhooks[0];
}

describe("the injector", () => {
  it("is not required for the creation of pods", () => {
    expect(webhook(false)).toMatchObject({ failurePolicy: "Ignore" });
    expect(webhook(false)).not.toHaveProperty("matchConditions");
  });

  it("is required with the feature gate, but only for pods with one of the two networks annotations", () => {
    // e2e/integration/components/certificates.test.ts tests it with a real API server.
    const expression =
      'has(object.metadata.annotations) && ["k8s.v1.cni.cncf.io/networks", "v1.multus-cni.io/default-network"]' +
      ".exists(key, key in object.metadata.annotations)";
    expect(webhook(true)).toMatchObject({
      failurePolicy: "Fail",
      matchConditions: [{ name: "include-networks-annotation", expression }],
    });
  });

  it("is called for each new pod, at its path", () => {
    expect(webhook(false)).toMatchObject({
      name: "network-resources-injector-config.k8s.io",
      sideEffects: "None",
      timeoutSeconds: 10,
      clientConfig: { service: { name: "network-resources-injector-service", namespace: "sriov", path: "/mutate" } },
      rules: [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["pods"] }],
    });
  });

  it("serves on the ports of its Service and probes, with the certificate of its Secret", () => {
    const server = { ...settingsWith().injector, secretName: "cert" };
    const pod = podOf("network-resources-injector", {}, { injector: server });
    const { command, args = [], livenessProbe, volumeMounts } = containerOf(pod, "webhook-server");
    expect(command).toEqual(["webhook"]);
    expect(args).toEqual([
      ...["--bind-address=0.0.0.0", "--port=6443"],
      ...["--tls-private-key-file=/etc/tls/tls.key", "--tls-cert-file=/etc/tls/tls.crt"],
      ...["--insecure=true", "--logtostderr=true", "--health-check-port=8444"],
    ]);
    expect(livenessProbe?.httpGet.port).toBe(8444);
    expect(volumeMounts).toEqual([{ name: "tls", mountPath: "/etc/tls", readOnly: true }]);
    expect(pod.spec.volumes).toEqual([{ name: "tls", secret: { secretName: "cert" } }]);
  });

  it("is probed at the only path that it serves on its health port", () => {
    // e2e/integration/components/network-resources-injector.test.ts asks the real program.
    const { startupProbe, livenessProbe, readinessProbe } = containerOf(
      podOf("network-resources-injector"),
      "webhook-server",
    );
    const probe = { path: "/healthz", port: 8444, scheme: "HTTP" };
    expect([startupProbe, livenessProbe, readinessProbe].map((each) => each?.httpGet)).toEqual([probe, probe, probe]);
  });

  it("has flags with the TLS settings", () => {
    const tls = { minVersion: "VersionTLS12", cipherSuites: [], curvePreferences: ["X25519", "secp256r1"] } as const;
    const { args } = containerOf(podOf("network-resources-injector", {}, { tls }), "webhook-server");
    expect(args).toEqual(expect.arrayContaining(["--tls-min-version=VersionTLS12", "--tls-curve-preferences=29,23"]));
  });

  it.each([
    { image: "example.com/nri:v1.8.0", knows: false },
    { image: "example.com:5000/nri:1.8.2-alpine@sha256:00", knows: false },
    { image: "example.com/nri:v0.9.0", knows: false },
    { image: "example.com/nri:v1.9.0", knows: true },
    { image: "example.com/nri:v1.10.0", knows: true },
    { image: "example.com/nri:v2.0.0", knows: true },
    { image: "example.com/nri:latest", knows: true },
    { image: "example.com:1.5/nri@sha256:00", knows: true },
  ])("gets TLS flags only in a version that knows them, and a warning says so: $image", ({ image, knows }) => {
    const tls = { minVersion: "VersionTLS12", cipherSuites: [], curvePreferences: [] } as const;
    const images = { ...settingsWith().images, injector: image };
    const { args = [] } = containerOf(podOf("network-resources-injector", {}, { tls, images }), "webhook-server");
    expect(args.includes("--tls-min-version=VersionTLS12")).toBe(knows);
    const warnings = (overrides: Parameters<typeof settingsWith>[0]) =>
      renderComponents({ sriov: configWith({ enableInjector: true }) }, settingsWith(overrides)).problems.flatMap(
        ({ component, severity, field, message }) =>
          component === "network-resources-injector" ? [`${severity} ${field}: ${message}`] : [],
      );
    const warning =
      `warning spec.enableInjector: the TLS settings of the operator do not apply to the network resources injector, because ${image} ` +
      "is older than version 1.9.0, which has the flags for them: use a newer image";
    expect(warnings({ tls, images })).toEqual(knows ? [] : [warning]);
    expect(warnings({ images })).toEqual([]);
  });

  it("has its feature switches in the ConfigMap with the name that it expects", () => {
    const objects = objectsOf("network-resources-injector");
    const switches = objects.find(({ kind }) => kind === "ConfigMap");
    expect(switches?.metadata).toMatchObject({ name: "nri-control-switches", namespace: "sriov" });
    const data = switches !== undefined && "data" in switches ? switches.data : undefined;
    const { "config.json": text = "" } = isRecord(data) ? data : {};
    expect(JSON.parse(String(text))).toEqual({ features: { enableHugePageDownApi: true } });
    const reads = objects.flatMap((object) => ("rules" in object ? [object.rules] : []));
    expect(JSON.stringify(reads)).toContain('"resources":["configmaps"],"resourceNames":["nri-control-switches"]');
  });

  it("keeps what users add to its configuration, such as user-defined injections", () => {
    const textWith = (injectorConfig: string | undefined): string => {
      const objects = objectsOf("network-resources-injector", {}, { injectorConfig });
      const [map] = objects.flatMap((object) => (object.kind === "ConfigMap" && "data" in object ? [object.data] : []));
      return isRecord(map) ? String(map["config.json"]) : "";
    };
    const injections = {
      a: { op: "add", path: "/metadata/annotations", value: { "k8s.v1.cni.cncf.io/networks": "x" } },
    };
    const features = { enableHonorExistingResources: true };
    const users = { "user-defined-injections": injections, features };
    const merged = textWith(JSON.stringify(users));
    expect(JSON.parse(merged)).toEqual({
      "user-defined-injections": injections,
      features: { enableHonorExistingResources: true, enableHugePageDownApi: true },
    });
    const compact = JSON.stringify(JSON.parse(merged));
    for (const text of [merged, compact]) expect(textWith(text)).toBe(text); // written once
    const own = { features: { enableHugePageDownApi: true } };
    for (const broken of ["", "[]", "not JSON", "null", undefined]) expect(JSON.parse(textWith(broken))).toEqual(own);
  });

  it("does not run as root, which is its image's default", () => {
    const user = (clusterType: "kubernetes" | "openshift") =>
      podOf("network-resources-injector", {}, { clusterType }).spec.securityContext;
    expect(user("kubernetes")).toEqual({ runAsNonRoot: true, runAsUser: 65_532 });
    expect(user("openshift")).toEqual({ runAsNonRoot: true });
  });
});

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}

function isRegistration(object: Manifest): object is WebhookConfiguration {
  return object.kind === "MutatingWebhookConfiguration";
}
