// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { containerOf, envOf, podOf } from "../testing/deployment.ts";

const plugin = (...of: Parameters<typeof podOf>) => containerOf(podOf(...of), "sriov-device-plugin");

describe("the device plugin's pods", () => {
  it("run on nodes that are labelled for the device plugin", () => {
    const { nodeSelector } = podOf("device-plugin", { configDaemonNodeSelector: { sriov: "yes" } }).spec;
    expect(nodeSelector).toEqual({ sriov: "yes", "sriovnetwork.openshift.io/device-plugin": "Enabled" });
  });

  it("share the configuration file between plugin, init container and sidecar", () => {
    const pod = podOf("device-plugin");
    for (const name of ["wait-for-config", "follow-config"]) {
      const { CONFIG_FILE = "" } = envOf(containerOf(pod, name));
      expect(plugin("device-plugin").args).toContain(`--config-file=${CONFIG_FILE}`);
    }
    expect(pod.spec.shareProcessNamespace).toBe(true);
  });

  it("run the plugin with the resource prefix and the kubelet's directories", () => {
    const { args, securityContext, volumeMounts = [] } = plugin("device-plugin", {}, { resourcePrefix: "example.com" });
    expect(args).toEqual([
      ...["-v=10", "-logtostderr", "--resource-prefix=example.com", "--config-file=/etc/pcidp/config.json"],
    ]);
    expect(securityContext).toEqual({ privileged: true, readOnlyRootFilesystem: true, runAsUser: 0 });
    const pod = podOf("device-plugin");
    const paths = (pod.spec.volumes ?? []).flatMap((volume) => ("hostPath" in volume ? [volume.hostPath] : []));
    const directories = [
      "/var/lib/kubelet/device-plugins",
      "/var/lib/kubelet/plugins_registry",
      "/var/run/k8s.cni.cncf.io/devinfo/dp",
    ];
    const all = [...directories, "/var/lib/kubelet/pod-resources"];
    expect(paths).toEqual(all.map((path) => ({ path, type: "DirectoryOrCreate" })));
    expect(volumeMounts.map(({ mountPath }) => mountPath)).toEqual(["/etc/pcidp", ...directories]);
    expect(volumeMounts.filter(({ readOnly }) => readOnly).map(({ mountPath }) => mountPath)).toEqual(["/etc/pcidp"]);
    expect(pod.spec.hostNetwork).toBe(true);
  });

  it("get the directories of a kubelet with another --root-dir where they expect them, without that for registrations by path", () => {
    for (const component of ["device-plugin", "metrics-exporter", "config-daemon"] as const) {
      const text = JSON.stringify(
        podOf(component, { featureGates: { metricsExporter: true } }, { kubeletDirectory: "/data/kubelet" }).spec
          .volumes,
      );
      expect(text).not.toContain("/var/lib/kubelet");
    }
    const pod = podOf("device-plugin", {}, { kubeletDirectory: "/data/kubelet" });
    const volumes = (pod.spec.volumes ?? []).flatMap((volume) =>
      "hostPath" in volume ? [[volume.name, volume.hostPath.path]] : [],
    );
    expect(volumes).toEqual([
      ["devicesock", "/data/kubelet/device-plugins"],
      ["device-info", "/var/run/k8s.cni.cncf.io/devinfo/dp"],
      ["pod-resources", "/data/kubelet/pod-resources"],
    ]);
    const mounts = plugin("device-plugin", {}, { kubeletDirectory: "/data/kubelet" }).volumeMounts ?? [];
    expect(mounts.map(({ mountPath }) => mountPath)).toEqual([
      ...["/etc/pcidp", "/var/lib/kubelet/device-plugins", "/var/run/k8s.cni.cncf.io/devinfo/dp"],
    ]);
  });

  it("have a sidecar that knows its node, has probes and may send signals to the plugin", () => {
    const [first, follower] = ["wait-for-config", "follow-config"].map((of) => containerOf(podOf("device-plugin"), of));
    if (first === undefined || follower === undefined) throw new RangeError();
    const common = {
      NODE_NAME: "spec.nodeName",
      NAMESPACE: "metadata.namespace",
      CONFIG_FILE: "/etc/pcidp/config.json",
      POD_NAME: "metadata.name",
      RESOURCE_PREFIX: "openshift.io",
    };
    expect(envOf(first)).toEqual({ ...common, WAIT: "true", BLOCK_UNTIL_CONFIGURED: "true" });
    expect(envOf(follower)).toEqual({
      ...common,
      WAIT: "false",
      BLOCK_UNTIL_CONFIGURED: "true",
      HEALTH_ADDRESS: "127.0.0.1:29119",
    });
    expect([first.livenessProbe, follower.livenessProbe?.httpGet]).toEqual([
      ...[undefined, { path: "/healthz", port: 29119, scheme: "HTTP", host: "127.0.0.1" }],
    ]);
    for (const { securityContext, volumeMounts } of [first, follower]) {
      expect(securityContext).toEqual({ runAsUser: 0, privileged: true, readOnlyRootFilesystem: true });
      expect(volumeMounts?.slice(1)).toEqual([
        { name: "pod-resources", mountPath: "/var/lib/kubelet/pod-resources", readOnly: true },
        { name: "devicesock", mountPath: "/var/lib/kubelet/device-plugins", readOnly: true },
      ]);
    }
  });

  it("wait until the node is configured, unless the feature gate is off", () => {
    const blocks = (blockDevicePluginUntilConfigured: boolean) =>
      ["wait-for-config", "follow-config"].map((name) => {
        const { BLOCK_UNTIL_CONFIGURED, WAIT } = envOf(
          containerOf(podOf("device-plugin", { featureGates: { blockDevicePluginUntilConfigured } }), name),
        );
        return { BLOCK_UNTIL_CONFIGURED, WAIT };
      });
    const both = (BLOCK_UNTIL_CONFIGURED: string) => [
      { BLOCK_UNTIL_CONFIGURED, WAIT: "true" },
      { BLOCK_UNTIL_CONFIGURED, WAIT: "false" },
    ];
    expect([blocks(true), blocks(false)]).toEqual([both("true"), both("false")]);
  });

  it("use CDI if the config enables it, and have no traces of it otherwise (sriov-operator.md M-49)", () => {
    expect(plugin("device-plugin", { useCDI: true }).args).toContain("--use-cdi");
    const hostPath = { path: "/var/run/cdi", type: "DirectoryOrCreate" };
    expect(podOf("device-plugin", { useCDI: true }).spec.volumes).toContainEqual({ name: "dynamic-cdi", hostPath });
    expect(JSON.stringify(podOf("device-plugin"))).not.toContain("cdi");
  });

  it("restart the plugin when it exits, and terminate it on SIGTERM", async () => {
    const directory = await mkdtemp(join(tmpdir(), "switchyard-plugin-"));
    const starts = join(directory, "starts");
    // The first process exits immediately; the second runs until it gets a signal.
    const program = [
      ...["#!/bin/sh", `trap 'echo told to end >> ${starts}; kill $!; exit' TERM`, `echo "$@" >> ${starts}`],
      ...[`[ $(wc -l < ${starts}) = 1 ] && exit 3`, "sleep 60 &", "wait", ""],
    ];
    await writeFile(join(directory, "sriovdp"), program.join("\n"), { mode: 0o755 });
    const { command: [shell = "", ...command] = [], args = [] } = plugin("device-plugin");
    const child = spawn(shell, [...command, ...args], {
      env: { PATH: `${directory}:${process.env["PATH"] ?? ""}` },
      stdio: "ignore",
    });
    const ended = once(child, "exit");
    const lines = async () =>
      (await readFile(starts, "utf8").catch(() => "")).split("\n").filter((line) => line !== "");
    for (let tries = 0; tries < 1000 && (await lines()).length < 2; tries++) await delay(20);
    expect(await lines()).toEqual([args.join(" "), args.join(" ")]);
    child.kill("SIGTERM");
    await ended;
    expect(await lines()).toEqual([args.join(" "), args.join(" "), "told to end"]);
    await rm(directory, { recursive: true });
  });
});
