// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { renderComponents } from "../render-components.ts";
import {
  afxdpConfigWith,
  configWith,
  containerOf,
  envOf,
  objectsOf,
  podOf,
  settingsWith,
} from "../testing/deployment.ts";
import { componentInventory } from "../component-inventory.ts";

const name = "afxdp-plugins";
const podWith = (spec: Parameters<typeof afxdpConfigWith>[0] = {}) =>
  podOf(name, {}, {}, afxdpConfigWith({ provider: "upstream", ...spec }));
const statesWith = (...args: Parameters<typeof renderComponents>) =>
  Object.fromEntries(renderComponents(...args).components.map(({ name: component, state }) => [component, state]));

describe("the plugins of afxdp-plugins-for-kubernetes", () => {
  it("are deployed for provider upstream, in place of the device plugin of Switchyard", () => {
    const settings = settingsWith();
    for (const sriov of [configWith(), undefined]) {
      const on = (provider: "switchyard" | "upstream") =>
        statesWith({ sriov, afxdp: afxdpConfigWith({ provider }) }, settings);
      expect(on("upstream")).toMatchObject({ [name]: "deployed", "afxdp-device-plugin": "disabled" });
      expect(on("switchyard")).toMatchObject({ [name]: "disabled", "afxdp-device-plugin": "deployed" });
    }
    expect(statesWith({ sriov: configWith() }, settings)).toMatchObject({ [name]: "disabled" });
  });

  it("are not deployed without their image, and nothing else is affected", () => {
    const settings = settingsWith({ images: { ...settingsWith().images, afxdpPlugins: "" } });
    const { components, problems } = renderComponents(
      { sriov: configWith(), afxdp: afxdpConfigWith({ provider: "upstream" }) },
      settings,
    );
    expect(components.filter(({ state }) => state === "failed").map((component) => component.name)).toEqual([name]);
    expect(problems).toEqual([
      {
        component: name,
        severity: "error",
        field: "spec.provider",
        message: "cannot be deployed, because the operator's environment variable AFXDP_PLUGINS_IMAGE is not set",
      },
    ]);
  });

  it("run on the nodes that the AfxdpOperatorConfig selects, in the network of the node", () => {
    const { nodeSelector, hostNetwork, shareProcessNamespace } = podWith({
      configDaemonNodeSelector: { afxdp: "yes" },
    }).spec;
    expect([nodeSelector, hostNetwork, shareProcessNamespace]).toEqual([{ afxdp: "yes" }, true, true]);
  });

  it("have the directories of upstream's manifest, and show BPF file systems to the node", () => {
    const pod = podWith();
    const plugin = containerOf(pod, "afxdp-dp");
    expect(plugin.volumeMounts).toEqual([
      { name: "config", mountPath: "/etc/afxdp-plugins", readOnly: true },
      { name: "sockets", mountPath: "/tmp/afxdp_dp" },
      { name: "maps", mountPath: "/var/run/afxdp_dp", mountPropagation: "Bidirectional" },
      { name: "device-plugins", mountPath: "/var/lib/kubelet/device-plugins" },
      { name: "pod-resources", mountPath: "/var/lib/kubelet/pod-resources" },
    ]);
    expect(plugin.securityContext).toEqual({ privileged: true, runAsUser: 0 });
    expect(containerOf(pod, "follow-config").volumeMounts?.map(({ mountPath }) => mountPath)).toEqual([
      ...["/etc/afxdp-plugins", "/var/lib/switchyard/upstream-devices"],
      ...["/tmp/afxdp_dp", "/var/lib/kubelet/pod-resources"],
    ]);
    expect(containerOf(pod, "wait-for-config").volumeMounts?.map(({ mountPath }) => mountPath)).toEqual([
      ...["/etc/afxdp-plugins", "/var/lib/switchyard/upstream-devices"],
    ]);
    const paths = (pod.spec.volumes ?? []).flatMap((volume) => ("hostPath" in volume ? [volume.hostPath.path] : []));
    expect(paths).toEqual([
      ...["/tmp/afxdp_dp", "/var/run/afxdp_dp", "/var/lib/kubelet/device-plugins", "/var/lib/kubelet/pod-resources"],
      ...["/var/lib/switchyard/upstream-devices", "/opt/cni/bin"],
    ]);
  });

  it("read the file that the init container and the sidecar write", () => {
    const pod = podWith({ logLevel: 2 });
    const file = "/etc/afxdp-plugins/config.json";
    const common = {
      NODE_NAME: "spec.nodeName",
      NAMESPACE: "metadata.namespace",
      VERBOSITY: "2",
      PLUGIN: "afxdp",
      PLUGIN_PROCESS: "afxdp-dp",
      CONFIG_FILE: file,
    };
    expect(envOf(containerOf(pod, "wait-for-config"))).toEqual({ ...common, WAIT: "true" });
    expect(envOf(containerOf(pod, "follow-config"))).toEqual({
      ...common,
      WAIT: "false",
      HEALTH_ADDRESS: "127.0.0.1:29122",
    });
    expect(containerOf(pod, "afxdp-dp").args).toEqual(["-config", file]);
    for (const writer of ["wait-for-config", "follow-config"])
      expect(containerOf(pod, writer).securityContext).toMatchObject({
        privileged: true,
        readOnlyRootFilesystem: true,
      });
    expect(Object.keys(envOf(containerOf(podWith(), "follow-config")))).not.toContain("VERBOSITY");
  });

  it("may read node states and write their status, and their objects are in the inventory", () => {
    const objects = objectsOf(name);
    const rules = objects.flatMap((object) => (object.kind === "Role" && "rules" in object ? [object.rules] : []));
    expect(rules).toEqual([
      [
        { apiGroups: ["afxdpnetwork.hns.dev"], resources: ["afxdpnetworknodestates"], verbs: ["get", "list", "watch"] },
        { apiGroups: ["afxdpnetwork.hns.dev"], resources: ["afxdpnetworknodestates/status"], verbs: ["patch"] },
      ],
    ]);
    const inventory = componentInventory(settingsWith()).filter(({ component }) => component === name);
    expect(inventory.map(({ type }) => type.kind).toSorted()).toEqual(objects.map(({ kind }) => kind).toSorted());
  });

  it("install the CNI plugin as a link to a file of their own, also over another file", () => {
    const directory = mkdtempSync(join(tmpdir(), "switchyard-cni-"));
    try {
      const [source, target] = [join(directory, "afxdp"), join(directory, "bin")];
      mkdirSync(target);
      const [shell = "", flag = "", script = ""] = containerOf(podWith(), "install-afxdp-cni").command ?? [];
      const install = (text: string): void => {
        writeFileSync(source, text);
        const moved = script.replace("/afxdp/afxdp", source).replace("/host/opt/cni/bin", target);
        execFileSync(shell, [flag, moved]);
        expect(readFileSync(join(target, "afxdp"), "utf8")).toBe(text);
        expect(readlinkSync(join(target, "afxdp"))).toBe(".afxdp.switchyard");
        expect(readdirSync(target)).toEqual([".afxdp.switchyard", "afxdp"]);
      };
      writeFileSync(join(target, "afxdp"), "of somebody else");
      install("first");
      install("second");
    } finally {
      rmSync(directory, { recursive: true });
    }
  });
});
