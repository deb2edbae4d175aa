// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
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

const name = "afxdp-device-plugin";
const podWith = (...spec: Parameters<typeof afxdpConfigWith>) => podOf(name, {}, {}, afxdpConfigWith(...spec));
const stateWith = (...args: Parameters<typeof renderComponents>) =>
  renderComponents(...args).components.find((component) => component.name === name)?.state;

describe("the device plugin for AF_XDP", () => {
  it("is deployed if the AfxdpOperatorConfig exists and does not choose the plugins of upstream", () => {
    const [sriov, settings] = [configWith(), settingsWith()];
    expect(stateWith({ sriov }, settings)).toBe("disabled");
    expect(stateWith({ sriov, afxdp: afxdpConfigWith() }, settings)).toBe("deployed");
    expect(stateWith({ sriov, afxdp: afxdpConfigWith({ provider: "switchyard" }) }, settings)).toBe("deployed");
    expect(stateWith({ sriov, afxdp: afxdpConfigWith({ provider: "upstream" }) }, settings)).toBe("disabled");
  });

  it("is not deployed without its image, and nothing else is affected", () => {
    const settings = settingsWith({ images: { ...settingsWith().images, afxdpDevicePlugin: undefined } });
    const { components, problems } = renderComponents({ sriov: configWith(), afxdp: afxdpConfigWith() }, settings);
    expect(components.filter(({ state }) => state === "failed").map((component) => component.name)).toEqual([name]);
    expect(problems).toEqual([
      {
        component: name,
        severity: "error",
        field: "spec",
        message: "cannot be deployed, because the operator's environment variable AFXDP_DEVICE_PLUGIN_IMAGE is not set",
      },
    ]);
  });

  it("runs on the nodes that the AfxdpOperatorConfig selects, in the network of the node", () => {
    const { nodeSelector, hostNetwork, tolerations } = podWith({ configDaemonNodeSelector: { afxdp: "yes" } }).spec;
    expect([nodeSelector, hostNetwork, tolerations]).toEqual([{ afxdp: "yes" }, true, [{ operator: "Exists" }]]);
    expect(podWith().spec.nodeSelector).toEqual({ "kubernetes.io/os": "linux", "node-role.kubernetes.io/worker": "" });
  });

  it("has the directories of the kubelet, of pods and of its record at the paths that they have on the node", () => {
    const pod = podWith();
    const { volumeMounts = [], securityContext } = containerOf(pod, name);
    const paths = (pod.spec.volumes ?? []).map((volume) => ("hostPath" in volume ? volume.hostPath.path : volume.name));
    expect(volumeMounts.map(({ mountPath }) => mountPath)).toEqual(paths);
    expect(paths.toSorted()).toEqual([
      ...["/run/switchyard/afxdp", "/sys/fs/bpf", "/var/lib/kubelet/device-plugins", "/var/lib/kubelet/pod-resources"],
      "/var/lib/switchyard",
    ]);
    expect(securityContext).toEqual({ privileged: true, readOnlyRootFilesystem: true, runAsUser: 0 });
  });

  it("has the directory for bpfman's program, and the loader, only with loader bpfman", () => {
    const mounts = (...spec: Parameters<typeof podWith>) =>
      (containerOf(podWith(...spec), name).volumeMounts ?? []).map(({ mountPath }) => mountPath);
    expect(mounts({ loader: "bpfman" })).toContain("/var/lib/bpfman/switchyard");
    expect(envOf(containerOf(podWith({ loader: "bpfman" }), name))).toMatchObject({ LOADER: "bpfman" });
    expect(mounts({ loader: "builtin" })).toEqual(mounts());
    expect(Object.keys(envOf(containerOf(podWith({ loader: "builtin" }), name)))).not.toContain("LOADER");
  });

  it("gets the log level of the AfxdpOperatorConfig, if it has one", () => {
    const env = envOf(containerOf(podWith({ logLevel: 0 }), name));
    expect(env).toEqual({
      NODE_NAME: "spec.nodeName",
      NAMESPACE: "metadata.namespace",
      HEALTH_ADDRESS: "127.0.0.1:29121",
      VERBOSITY: "0",
    });
    expect(Object.keys(envOf(containerOf(podWith(), name)))).not.toContain("VERBOSITY");
  });

  it("may read node states and write their status, and its objects are in the inventory", () => {
    const objects = objectsOf(name);
    const rules = objects.flatMap((object) => (object.kind === "Role" && "rules" in object ? [object.rules] : []));
    expect(rules).toEqual([
      [
        { apiGroups: ["afxdpnetwork.hns.dev"], resources: ["afxdpnetworknodestates"], verbs: ["get", "list", "watch"] },
        { apiGroups: ["afxdpnetwork.hns.dev"], resources: ["afxdpnetworknodestates/status"], verbs: ["patch"] },
      ],
    ]);
    const inventory = componentInventory(settingsWith()).filter(({ component }) => component === name);
    const all = objectsOf(name, {}, { hasSecureMetrics: true }); // which also need rights in the cluster
    expect(inventory.map(({ type }) => type.kind).toSorted()).toEqual(all.map(({ kind }) => kind).toSorted());
  });
});
