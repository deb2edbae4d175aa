// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import type { SriovOperatorConfigSpec } from "@switchyard/api";
import type { ComponentSettings } from "./component-settings.ts";
import { renderComponents } from "./render-components.ts";
import type { RenderedComponent } from "./rendered-components.ts";
import { configWith, containerOf, envOf, podOf, settingsWith } from "./testing/deployment.ts";

const name = "sriov-network-config-daemon";

function env(spec: SriovOperatorConfigSpec = {}, overrides: Partial<ComponentSettings> = {}) {
  return envOf(containerOf(podOf("config-daemon", spec, overrides), name));
}

describe("the config daemon's pods", () => {
  it("install the CNI plugins whose images are given", () => {
    const all = podOf("config-daemon").spec.initContainers?.map((container) => container.name);
    expect(all).toEqual(["sriov-cni", "sriov-infiniband-cni", "ovs-cni", "rdma-cni", "accelerated-bridge-cni"]);
    const { sriovCni, ibSriovCni, configDaemon } = settingsWith().images;
    const few = podOf("config-daemon", {}, { images: { sriovCni, ibSriovCni, configDaemon } });
    expect(few.spec.initContainers?.map(({ image }) => image)).toEqual([sriovCni, ibSriovCni]);
  });

  it("run on Linux workers, unless other nodes are asked for", () => {
    const linuxWorkers = { "kubernetes.io/os": "linux", "node-role.kubernetes.io/worker": "" };
    expect(podOf("config-daemon").spec.nodeSelector).toEqual(linuxWorkers);
    expect(podOf("config-daemon", { configDaemonNodeSelector: { sriov: "yes" } }).spec.nodeSelector).toEqual({
      sriov: "yes",
    });
  });

  it("know who they are, and what the cluster is", () => {
    expect(env()).toEqual({
      NODE_NAME: "spec.nodeName",
      NAMESPACE: "metadata.namespace",
      HOST_ROOT: "/host",
      HEALTH_ADDRESS: "127.0.0.1:29118",
      CLUSTER_TYPE: "kubernetes",
      MAX_PFS: "1",
    });
  });

  it("are told what the config asks for", () => {
    const spec = {
      configurationMode: "systemd",
      disablePlugins: ["mellanox"],
      featureGates: { parallelNicConfig: true },
      configDaemonEnvVars: { EXTRA: "a b", DEV_MODE: "false" },
    } as const;
    expect(env(spec, { devMode: true, useExternalDrainer: true })).toMatchObject({
      ...{ CONFIGURATION_MODE: "systemd", DISABLE_PLUGINS: "mellanox", USE_EXTERNAL_DRAINER: "true" },
      ...{ EXTRA: "a b", DEV_MODE: "false" },
    });
    expect(env(spec)).not.toHaveProperty("MAX_PFS");
  });

  it("say that units at boot do not configure the node yet, and write nothing for them (M-14)", () => {
    const { components, problems } = renderComponents(configWith({ configurationMode: "systemd" }), settingsWith());
    expect(problems).toMatchObject([{ severity: "warning", field: "spec.configurationMode" }]);
    const withoutMode = renderComponents(configWith({}), settingsWith());
    const labels = ({ objects }: RenderedComponent) => objects.map(({ kind, metadata }) => `${kind}/${metadata.name}`);
    expect(components.map(labels)).toEqual(withoutMode.components.map(labels));
  });

  it("keep their identity, whatever variables users set", () => {
    const configDaemonEnvVars = { NODE_NAME: "another", A: "1" };
    expect(env({ configDaemonEnvVars })).toMatchObject({ NODE_NAME: "spec.nodeName", A: "1" });
    expect(renderComponents(configWith({ configDaemonEnvVars }), settingsWith()).problems).toMatchObject([
      { severity: "warning", field: "spec.configDaemonEnvVars.NODE_NAME" },
    ]);
  });
});
