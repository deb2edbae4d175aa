// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import type { SriovOperatorConfigSpec } from "@switchyard/api";
import type { ComponentSettings } from "../component-settings.ts";
import { renderComponents } from "../render-components.ts";
import { configWith, containerOf, envOf, podOf, settingsWith } from "../testing/deployment.ts";

const name = "sriov-network-config-daemon";

function env(spec: SriovOperatorConfigSpec = {}, overrides: Partial<ComponentSettings> = {}) {
  return envOf(containerOf(podOf("config-daemon", spec, overrides), name));
}

describe("the config daemon's pods", () => {
  it("install the CNI plugins whose images are set", () => {
    const all = podOf("config-daemon").spec.initContainers?.map((container) => container.name);
    expect(all).toEqual(["sriov-cni", "sriov-infiniband-cni", "ovs-cni", "rdma-cni", "accelerated-bridge-cni"]);
    const { sriovCni, ibSriovCni, configDaemon } = settingsWith().images;
    const few = podOf("config-daemon", {}, { images: { sriovCni, ibSriovCni, configDaemon } });
    expect(few.spec.initContainers?.map(({ image }) => image)).toEqual([sriovCni, ibSriovCni]);
  });

  it("start each installer with the command of its image, for the directory in the operator's settings", () => {
    const pod = podOf("config-daemon", {}, { cniBinPath: "/var/lib/cni/bin" });
    const starts = pod.spec.initContainers?.map(({ command, args, image }) => ({ image, start: command ?? args }));
    const to = "/host/opt/cni/bin/";
    expect(starts).toEqual([
      { image: "sriovCni:1", start: ["--no-sleep"] },
      { image: "ibSriovCni:1", start: ["--no-sleep"] },
      { image: "ovsCni:1", start: ["cp", "-f", "/ovs", "/ovs-mirror-producer", "/ovs-mirror-consumer", to] },
      { image: "rdmaCni:1", start: ["--no-sleep"] },
      { image: "acceleratedBridgeCni:1", start: ["cp", "-f", "/usr/bin/accelerated-bridge", to] },
    ]);
    for (const { securityContext, volumeMounts } of pod.spec.initContainers ?? []) {
      expect(securityContext).toEqual({ privileged: true });
      expect(volumeMounts).toEqual([
        { name: "cnibin", mountPath: "/host/opt/cni/bin" },
        { name: "os-release", mountPath: "/host/etc/os-release", readOnly: true },
      ]);
    }
    for (const [name, hostPath] of [
      ["cnibin", { path: "/var/lib/cni/bin", type: "DirectoryOrCreate" }],
      ["os-release", { path: "/etc/os-release", type: "File" }],
    ]) {
      expect(pod.spec.volumes).toContainEqual({ name, hostPath });
    }
  });

  it("are privileged, and use all of the node's namespaces except the PID namespace", () => {
    const pod = podOf("config-daemon");
    const { securityContext, volumeMounts, livenessProbe } = containerOf(pod, name);
    expect(pod.spec).toMatchObject({ hostNetwork: true });
    expect(pod.spec).not.toHaveProperty("hostPID");
    expect(securityContext).toEqual({ privileged: true, readOnlyRootFilesystem: true });
    expect(volumeMounts).toEqual([
      { name: "host", mountPath: "/host" },
      { name: "tmp", mountPath: "/tmp" },
    ]);
    expect(pod.spec.volumes).toContainEqual({ name: "host", hostPath: { path: "/" } });
    expect(livenessProbe?.httpGet).toMatchObject({ host: "127.0.0.1", port: 29118 });
  });

  it("run on Linux workers, unless the config selects other nodes", () => {
    const linuxWorkers = { "kubernetes.io/os": "linux", "node-role.kubernetes.io/worker": "" };
    expect(podOf("config-daemon").spec.nodeSelector).toEqual(linuxWorkers);
    expect(podOf("config-daemon", { configDaemonNodeSelector: { sriov: "yes" } }).spec.nodeSelector).toEqual({
      sriov: "yes",
    });
  });

  it("have variables with their identity and the kind of cluster", () => {
    expect(env()).toEqual({
      NODE_NAME: "spec.nodeName",
      POD_NAME: "metadata.name",
      NAMESPACE: "metadata.namespace",
      HOST_ROOT: "/host",
      HEALTH_ADDRESS: "127.0.0.1:29118",
    });
  });

  it("use the kubelet's kubeconfig for the API server's address on OpenShift", () => {
    expect(env({}, { clusterType: "openshift" })).toMatchObject({
      API_SERVER_FROM: "/host/etc/kubernetes/kubeconfig",
    });
  });

  it("have variables with settings of the config", () => {
    const configDaemonEnvVars = { HTTPS_PROXY: "http://a b", USE_EXTERNAL_DRAINER: "false", LOG_LEVEL: "debug" };
    const variables = env({ featureGates: { parallelNicConfig: false } }, { useExternalDrainer: true });
    expect([variables["MAX_PFS"], variables["USE_EXTERNAL_DRAINER"]]).toEqual(["1", "true"]);
    expect(env({ configDaemonEnvVars }, { useExternalDrainer: true })).toMatchObject(configDaemonEnvVars);
  });

  it("manage software bridges if the feature gate is on, with the socket of the operator's settings", () => {
    const featureGates = { manageSoftwareBridges: true };
    expect(env({ featureGates })).toMatchObject({ MANAGE_SOFTWARE_BRIDGES: "true" });
    expect(env({ featureGates }, { ovsdbSocketPath: "unix:///run/x.sock" })).toMatchObject({
      OVSDB_SOCKET_PATH: "unix:///run/x.sock",
    });
    const off = env({}, { ovsdbSocketPath: "unix:///run/x.sock" });
    expect([off["MANAGE_SOFTWARE_BRIDGES"], off["OVSDB_SOCKET_PATH"]]).toEqual([undefined, undefined]);
  });

  it("prepare the boot of the node in systemd mode, with units of a MachineConfig on OpenShift", () => {
    const spec = { configurationMode: "systemd" } as const;
    expect(env(spec)).toMatchObject({ USE_SYSTEMD_SERVICE: "true" });
    expect(env(spec)).not.toHaveProperty("UNITS_FROM_MACHINE_CONFIG");
    expect(env(spec, { clusterType: "openshift" })).toMatchObject({
      USE_SYSTEMD_SERVICE: "true",
      UNITS_FROM_MACHINE_CONFIG: "true",
    });
    expect(env({ configurationMode: "daemon" })).not.toHaveProperty("USE_SYSTEMD_SERVICE");
  });

  it("configure the node themselves on OpenShift with a hosted control plane, with a warning", () => {
    const spec = { configurationMode: "systemd" } as const;
    const hosted = { clusterType: "openshift", isControlPlaneExternal: true } as const;
    expect(env(spec, hosted)).not.toHaveProperty("USE_SYSTEMD_SERVICE");
    const { problems } = renderComponents({ sriov: configWith(spec) }, settingsWith(hosted));
    expect(problems).toMatchObject([{ severity: "warning", field: "spec.configurationMode" }]);
    const unhosted = renderComponents({ sriov: configWith(spec) }, settingsWith({ isControlPlaneExternal: true }));
    expect(unhosted.problems).toEqual([]);
  });

  it.each([{ field: "spec.enableOvsOffload", spec: { enableOvsOffload: true } }] as const)(
    "are unchanged by $field, which has no effect, with a warning",
    ({ field, spec }) => {
      const { components, problems } = renderComponents({ sriov: configWith(spec) }, settingsWith());
      expect(problems).toMatchObject([{ severity: "warning", field }]);
      const without = renderComponents({ sriov: configWith() }, settingsWith());
      expect([components, without.problems]).toEqual([without.components, []]);
    },
  );

  it("result in no warnings for fields that have an effect", () => {
    const spec = {
      configurationMode: "daemon",
      disablePlugins: ["mellanox"],
      featureGates: { mellanoxFirmwareReset: true },
    } as const;
    expect(renderComponents({ sriov: configWith(spec) }, settingsWith()).problems).toEqual([]);
  });

  it("get no variable that makes a privileged process run other code or change its identity, with a warning", () => {
    const hostile = ["NODE_OPTIONS", "LD_PRELOAD", "PATH", "KUBECONFIG", "NODE_NAME", "GODEBUG"];
    const configDaemonEnvVars = { ...Object.fromEntries(hostile.map((name) => [name, "x"])), TZ: "a\nb" };
    expect(env({ configDaemonEnvVars })).toEqual(env());
    expect(renderComponents({ sriov: configWith({ configDaemonEnvVars }) }, settingsWith()).problems).toMatchObject(
      [...hostile, "TZ"].map((name) => ({ severity: "warning", field: `spec.configDaemonEnvVars.${name}` })),
    );
  });
});
