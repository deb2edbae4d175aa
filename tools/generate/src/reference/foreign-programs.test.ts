// SPDX-License-Identifier: Apache-2.0
/**
 * What is rendered for programs of other projects is what they accept in the versions that the chart names: program, flags, paths
 * of probes, and mounts.
 */
import { describe, expect, it } from "@jest/globals";
import { renderComponents, type ComponentSettings, type Manifest } from "@switchyard/render";
import { images } from "../chart/images.ts";
import { foreignPrograms } from "./foreign-programs.ts";

const references = Object.fromEntries(
  Object.entries(images).map(([name, value]) => [name, typeof value.default === "string" ? value.default : ""]),
);

/** Keys of the chart's value `images` by the names that the operator gives them. */
const settingsImages = {
  devicePlugin: "sriovDevicePlugin",
  devicePluginConfig: "devicePluginConfig",
  configDaemon: "sriovConfigDaemon",
  webhook: "webhook",
  injector: "resourcesInjector",
  metricsExporter: "metricsExporter",
  kubeRbacProxy: "metricsExporterKubeRbacProxy",
  sriovCni: "sriovCni",
  ibSriovCni: "ibSriovCni",
  ovsCni: "ovsCni",
  rdmaCni: "rdmaCni",
  acceleratedBridgeCni: "acceleratedBridgeCni",
} as const;

/** The chart's images, and all settings that add arguments. */
const settings: ComponentSettings = {
  namespace: "sriov",
  resourcePrefix: "openshift.io",
  clusterType: "kubernetes",
  operatorServiceAccount: "switchyard-operator",
  images: Object.fromEntries(Object.entries(settingsImages).map(([name, key]) => [name, references[key]])),
  imagePullSecrets: [],
  cniBinPath: "/opt/cni/bin",
  webhook: { certificates: { kind: "self-made" }, secretName: "operator-webhook-cert", port: 6443 },
  injector: { certificates: { kind: "self-made" }, secretName: "network-resources-injector-cert", port: 6443 },
  tls: {
    minVersion: "VersionTLS12",
    cipherSuites: ["ECDHE-RSA-AES128-GCM-SHA256"],
    curvePreferences: ["X25519"],
  },
  metricsExporter: { port: 9110, secretName: "metrics-exporter-cert" },
  useExternalDrainer: false,
  devMode: false,
};

interface SomeContainer {
  readonly image: string;
  readonly command?: readonly string[];
  readonly args?: readonly string[];
  readonly volumeMounts?: readonly { readonly mountPath: string }[];
  readonly startupProbe?: SomeProbe;
  readonly livenessProbe?: SomeProbe;
  readonly readinessProbe?: SomeProbe;
}

interface SomeProbe {
  readonly httpGet: { readonly path: string };
}

const rendered = renderComponents(
  {
    sriov: {
      apiVersion: "sriovnetwork.openshift.io/v1",
      kind: "SriovOperatorConfig",
      metadata: { name: "default", namespace: "sriov", uid: "uid-1" },
      spec: {
        enableInjector: true,
        enableOperatorWebhook: true,
        useCDI: true,
        featureGates: { metricsExporter: true },
      },
    },
  },
  settings,
);

interface SomeDaemonSet extends Manifest {
  readonly spec: {
    readonly template: {
      readonly spec: {
        readonly initContainers?: readonly SomeContainer[];
        readonly containers: readonly SomeContainer[];
      };
    };
  };
}

function isDaemonSet(object: Manifest): object is SomeDaemonSet {
  return object.kind === "DaemonSet";
}

const containers = rendered.components.flatMap(({ objects }) =>
  objects.filter(isDaemonSet).flatMap(({ spec }) => {
    const { containers: own, initContainers = [] } = spec.template.spec;
    return [...initContainers, ...own];
  }),
);

describe("the programs of other projects", () => {
  it("have a row for each image of the chart that Switchyard does not build, with the version of the image", () => {
    const foreign = Object.entries(references).filter(([, reference]) => !reference.startsWith("ghcr.io/switchyard/"));
    const versions = foreign.flatMap(([name, reference]) =>
      reference === "" ? [] : [`${name} ${reference.replace(/^.*:/, "")}`],
    );
    expect(foreignPrograms.map(({ image, version }) => `${image} ${version}`).toSorted()).toEqual(versions.toSorted());
  });

  describe.each(foreignPrograms)("$image $version", ({ image, program, flags, probes, mounts }) => {
    const [container, ...more] = containers.filter((each) => each.image === references[image]);

    it("is started as its image allows, with flags that it knows", () => {
      expect(more).toEqual([]);
      expect(container?.command?.[0] ?? "").toBe(program);
      const words = [...(container?.command?.slice(program === "/bin/sh" ? 4 : 1) ?? []), ...(container?.args ?? [])];
      const names = words.flatMap((word) => /^--?([^=]+)/.exec(word)?.[1] ?? []);
      expect(names.length).toBeGreaterThan(0);
      expect(names.filter((name) => !flags.includes(name))).toEqual([]);
    });

    it("is probed only at paths that it serves", () => {
      const all = [container?.startupProbe, container?.livenessProbe, container?.readinessProbe];
      expect(all.flatMap((probe) => probe?.httpGet.path ?? []).filter((path) => !probes.includes(path))).toEqual([]);
      expect(all.filter((probe) => probe !== undefined).length > 0).toBe(probes.length > 0);
    });

    it("has the mounts that it needs", () => {
      const mounted = (container?.volumeMounts ?? []).map(({ mountPath }) => mountPath);
      expect(mounted).toEqual(expect.arrayContaining([...mounts]));
    });
  });
});
