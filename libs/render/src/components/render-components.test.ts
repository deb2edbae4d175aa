// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import type { SriovOperatorConfigSpec } from "@switchyard/api";
import fc from "fast-check";
import { componentInventory } from "./component-inventory.ts";
import { isComponentKind, resourceTypeOf } from "./objects/component-kinds.ts";
import { componentImageVariables, type CertificateSource, type ComponentSettings } from "./component-settings.ts";
import type { Manifest, RoleBinding } from "./objects/kube-objects.ts";
import { renderComponents } from "./render-components.ts";
import { configWith, everyComponent, isDaemonSet, settingsWith } from "./testing/deployment.ts";

const gates = ["parallelNicConfig", "resourceInjectorMatchCondition", "metricsExporter", "manageSoftwareBridges"];
const otherGates = ["blockDevicePluginUntilConfigured", "mellanoxFirmwareReset"];

const anySpec: fc.Arbitrary<SriovOperatorConfigSpec> = fc.record(
  {
    configDaemonNodeSelector: fc.dictionary(fc.constantFrom("a", "b/c"), fc.constantFrom("", "x")),
    enableInjector: fc.boolean(),
    enableOperatorWebhook: fc.boolean(),
    logLevel: fc.nat(2),
    configurationMode: fc.constantFrom("daemon", "systemd"),
    useCDI: fc.boolean(),
    disablePlugins: fc.constantFrom([], ["mellanox"] as const),
    featureGates: fc.dictionary(fc.constantFrom(...gates, ...otherGates), fc.boolean()),
    configDaemonEnvVars: fc.dictionary(fc.constantFrom("TZ", "LOG_LEVEL", "NODE_NAME"), fc.string()),
  },
  { requiredKeys: [] },
);

const anyCertificates: fc.Arbitrary<CertificateSource> = fc.oneof(
  fc.record({ kind: fc.constantFrom("self-made", "cert-manager", "service-ca") }),
  fc.record({ kind: fc.constant("given" as const), caBundle: fc.constant("UEVN") }),
);

const anyServer = fc.record({
  certificates: anyCertificates,
  secretName: fc.constantFrom("cert", "other-cert"), // of one name, they may be in each other's way
  port: fc.constant(6443),
});

const anySettings: fc.Arbitrary<ComponentSettings> = fc
  .record(
    {
      clusterType: fc.constantFrom("kubernetes", "openshift"),
      images: fc
        .subarray(Object.keys(componentImageVariables))
        .map((names) => Object.fromEntries(names.map((name) => [name, name]))),
      imagePullSecrets: fc.constantFrom([], ["registry"]),
      webhook: anyServer,
      injector: anyServer,
      isControlPlaneExternal: fc.boolean(),
      useExternalDrainer: fc.boolean(),
      devMode: fc.boolean(),
      metricsExporter: fc.record(
        {
          port: fc.constant(9110),
          secretName: fc.constant("metrics"),
          prometheusOperator: fc.record({
            serviceAccount: fc.constant("prometheus"),
            namespace: fc.constant("monitoring"),
            deployRules: fc.boolean(),
          }),
        },
        { requiredKeys: ["port"] },
      ),
    },
    { requiredKeys: [] },
  )
  .map(settingsWith);

function forAll(check: (spec: SriovOperatorConfigSpec, settings: ComponentSettings) => void): void {
  fc.assert(fc.property(anySpec, anySettings, check));
}

function objectsOf(spec: SriovOperatorConfigSpec, settings: ComponentSettings): readonly Manifest[] {
  return renderComponents({ sriov: configWith(spec) }, settings).components.flatMap(({ objects }) => objects);
}

function labelOf({ kind, metadata }: Manifest): string {
  return `${kind}/${metadata.name}`;
}

describe("renderComponents", () => {
  it("returns the same bytes each time", () => {
    forAll((spec, settings) => {
      const render = () => JSON.stringify(renderComponents({ sriov: configWith(spec) }, settings));
      expect(render()).toBe(render());
    });
  });

  it("renders only objects that are in the inventory, each once", () => {
    forAll((spec, settings) => {
      const inventory = componentInventory(settings);
      const { components } = renderComponents({ sriov: configWith(spec) }, settings);
      for (const { name, objects } of components) {
        const ofComponent = inventory.filter(({ component }) => component === name);
        for (const object of objects) {
          const { namespace } = object.metadata;
          const found = ofComponent.filter(
            ({ type, name }) => type.kind === object.kind && name === object.metadata.name,
          );
          expect(found).toEqual([
            expect.objectContaining({ type: resourceTypeOf(object), ...(namespace && { namespace }) }),
          ]);
        }
        expect(new Set(objects.map(labelOf)).size).toBe(objects.length);
      }
    });
  });

  it("has no objects of components that are disabled or have no image", () => {
    forAll((spec, settings) => {
      const { components, problems } = renderComponents({ sriov: configWith(spec) }, settings);
      for (const { name, state, objects } of components) {
        const errors = problems.filter(({ component, severity }) => component === name && severity === "error");
        expect({ name, hasObjects: objects.length > 0, isWrong: errors.length > 0 }).toEqual({
          name,
          hasObjects: state === "deployed",
          isWrong: state === "failed",
        });
      }
    });
  });

  it("sets the config as owner of namespaced objects only", () => {
    forAll((spec, settings) => {
      for (const object of objectsOf(spec, settings)) {
        const { namespaced } = resourceTypeOf(object);
        expect(object.metadata.namespace).toBe(namespaced ? settings.namespace : undefined);
        expect(object.metadata.ownerReferences?.map(({ uid }) => uid)).toEqual(namespaced ? ["uid-1"] : undefined);
      }
    });
  });

  it("renders a service account for each pod and a role for each binding", () => {
    forAll((spec, settings) => {
      const objects = objectsOf(spec, settings);
      const labels = objects.map(labelOf);
      for (const { spec } of objects.filter(isDaemonSet)) {
        expect(labels).toContain(`ServiceAccount/${spec.template.spec.serviceAccountName}`);
      }
      for (const { roleRef } of objects.filter(isBinding)) expect(labels).toContain(`${roleRef.kind}/${roleRef.name}`);
    });
  });

  it("has no pod fields that the API server drops, because they would be applied again at each start", () => {
    const isDropped = (value: unknown): boolean => {
      if (Array.isArray(value)) return value.length === 0;
      return typeof value === "object" && value !== null ? Object.keys(value).length === 0 : value === "";
    };
    const droppedIn = (value: unknown, path: string): readonly string[] => {
      if (isDropped(value) && !/\.(emptyDir|labels\..*|nodeSelector\..*)$/.test(path)) return [path];
      if (typeof value !== "object" || value === null) return [];
      return Object.entries(value).flatMap(([key, part]) => droppedIn(part, `${path}.${key}`));
    };
    forAll((spec, settings) => {
      const withEmpty = { ...spec, configDaemonEnvVars: { ...spec.configDaemonEnvVars, TZ: "" } };
      const pods = objectsOf(withEmpty, settings).filter(isDaemonSet);
      expect(pods.flatMap((pod) => droppedIn(pod.spec.template.spec, pod.metadata.name))).toEqual([]);
    });
  });

  it("renders the same pods for another log level", () => {
    forAll((spec, settings) => {
      expect(objectsOf({ ...spec, logLevel: 2 }, settings)).toEqual(objectsOf({ ...spec, logLevel: 0 }, settings));
    });
  });

  it("mounts all volumes of its pods and no others", () => {
    forAll((spec, settings) => {
      for (const { spec: daemonSet } of objectsOf(spec, settings).filter(isDaemonSet)) {
        const { volumes = [], initContainers = [], containers } = daemonSet.template.spec;
        const mounts = [...initContainers, ...containers].flatMap(({ volumeMounts = [] }) => volumeMounts);
        expect(new Set(mounts.map(({ name }) => name))).toEqual(new Set(volumes.map(({ name }) => name)));
      }
    });
  });

  it("reports the environment variable of a missing image", () => {
    const { images } = settingsWith();
    const { injector: _, ...others } = images;
    const { components, problems } = renderComponents(
      { sriov: configWith(everyComponent) },
      settingsWith({ images: others }),
    );
    expect(problems).toEqual([
      {
        component: "network-resources-injector",
        severity: "error",
        field: "spec.enableInjector",
        message:
          "cannot be deployed, because the operator's environment variable NETWORK_RESOURCES_INJECTOR_IMAGE is not set",
      },
    ]);
    expect(components.map(({ state }) => state).filter((state) => state === "failed")).toHaveLength(1);
  });

  it.each([
    { webhook: "self-made", injector: "self-made", state: "failed" },
    { webhook: "given", injector: "self-made", state: "failed" },
    { webhook: "service-ca", injector: "service-ca", state: "failed" },
    { webhook: "given", injector: "given", state: "deployed" },
    { webhook: "cert-manager", injector: "cert-manager", state: "deployed" },
  ] as const)("with one Secret for both servers, the injector is $state for $webhook and $injector", (kinds) => {
    const server = (kind: CertificateSource["kind"], secretName: string) => ({
      secretName,
      port: 6443,
      certificates: kind === "given" ? { kind, caBundle: "UEVN" } : { kind },
    });
    const render = (secretName: string) => {
      const servers = { webhook: server(kinds.webhook, "cert"), injector: server(kinds.injector, secretName) };
      const { components, problems } = renderComponents(
        { sriov: configWith({ enableInjector: true }) },
        settingsWith(servers),
      );
      return { state: components.find(({ name }) => name === "network-resources-injector")?.state, problems };
    };
    expect(render("cert").state).toBe(kinds.state);
    expect(render("other-cert")).toEqual({ state: "deployed", problems: [] });
    if (kinds.state === "deployed") return;
    expect(render("cert").problems).toMatchObject([
      {
        severity: "error",
        field: "spec.enableInjector",
        message: expect.stringContaining("the webhook uses the Secret cert, too"),
      },
    ]);
  });

  it("reports unusable TLS settings once", () => {
    const tls = { cipherSuites: ["AES128-SHA"], curvePreferences: [] };
    const { components, problems } = renderComponents({ sriov: configWith(everyComponent) }, settingsWith({ tls }));
    expect(problems).toMatchObject([{ severity: "warning", field: "TLS_CIPHER_SUITES" }]);
    expect(components.map(({ state }) => state)).not.toContain("failed");
  });

  it("warns about unknown feature gates", () => {
    const { problems } = renderComponents(
      { sriov: configWith({ featureGates: { metricExporter: true } }) },
      settingsWith(),
    );
    expect(problems).toMatchObject([{ severity: "warning", field: "spec.featureGates.metricExporter" }]);
  });
});

describe("componentInventory", () => {
  it("lists each object once", () => {
    const labels = componentInventory(settingsWith()).map(({ type, name }) => `${type.kind}/${name}`);
    expect(new Set(labels).size).toBe(labels.length);
  });

  it("sets the namespace of namespaced objects", () => {
    for (const { type, namespace } of componentInventory(settingsWith())) {
      expect([type.kind, namespace]).toEqual([type.kind, type.namespaced ? "sriov" : undefined]);
      expect(isComponentKind(type.kind)).toBe(true);
    }
  });
});

function isBinding(object: Manifest): object is RoleBinding {
  return object.kind === "RoleBinding" || object.kind === "ClusterRoleBinding";
}
