// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { componentInventory } from "../component-inventory.ts";
import { placementProblems, runsOnlyWithVfs } from "../placement.ts";
import { renderComponents } from "../render-components.ts";
import { configWith, containerOf, envOf, objectsOf, podOf, settingsWith } from "../testing/deployment.ts";

const name = "dra-driver";

describe("the driver of ResourceClaims", () => {
  it("is deployed while a node uses claims, and with its image only", () => {
    const stateWith = (...settings: Parameters<typeof settingsWith>) =>
      renderComponents({ sriov: configWith() }, settingsWith(...settings)).components.find((one) => one.name === name)
        ?.state;
    const { draDriver: _, ...images } = settingsWith().images;
    expect([stateWith(), stateWith({ usesClaims: true }), stateWith({ usesClaims: true, images })]).toEqual([
      ...["disabled", "deployed", "failed"],
    ]);
  });

  it("has the name that other operators give to their driver, and runs on the nodes with its label", () => {
    const sets = objectsOf(name).filter(({ kind }) => kind === "DaemonSet");
    expect(sets.map(({ metadata }) => metadata.name)).toEqual(["sriov-dra-driver"]);
    const { nodeSelector } = podOf(name, { configDaemonNodeSelector: { sriov: "yes" } }).spec;
    expect(nodeSelector).toEqual({ sriov: "yes", "switchyard.io/dra-driver": "Enabled" });
  });

  it("can run on no node before the first one moves, and nothing is wrong", () => {
    const worker = { name: "a", labels: { "kubernetes.io/os": "linux", "node-role.kubernetes.io/worker": "" } };
    const { components } = renderComponents({ sriov: configWith() }, settingsWith({ usesClaims: true }));
    const driver = components.filter((one) => one.name === name);
    expect(placementProblems(driver, [{ apiVersion: "v1", kind: "Node", metadata: worker }])).toEqual([]);
    expect(objectsOf(name).filter(runsOnlyWithVfs)).toHaveLength(1);
  });

  it("gets the prefix of resources, and another directory of the kubelet", () => {
    const env = envOf(containerOf(podOf(name, {}, { kubeletDirectory: "/data/kubelet" }), "sriov-dra-driver"));
    expect(env).toEqual({
      NODE_NAME: "spec.nodeName",
      NAMESPACE: "metadata.namespace",
      HOST_ROOT: "/host",
      KUBELET_DIRECTORY: "/data/kubelet",
      RESOURCE_PREFIX: "openshift.io",
      CNI_BIN_DIRECTORY: "/opt/cni/bin",
      HEALTH_ADDRESS: "127.0.0.1:29122",
    });
    expect(Object.keys(envOf(containerOf(podOf(name), "sriov-dra-driver")))).not.toContain("KUBELET_DIRECTORY");
  });

  it("sees the network namespaces of pods, and reads networks only if it attaches VFs to pods", () => {
    const canReadNetworks = (settings: Parameters<typeof objectsOf>[2]) =>
      JSON.stringify(objectsOf(name, {}, settings).filter(({ kind }) => kind === "ClusterRole")).includes(
        '["network-attachment-definitions"],"verbs":["get"]',
      );
    expect([canReadNetworks({}), canReadNetworks({ attachesNetworks: false })]).toEqual([true, false]);
    const container = containerOf(podOf(name, {}, { attachesNetworks: false }), "sriov-dra-driver");
    expect(envOf(container)).toMatchObject({ ATTACH_NETWORKS: "false" });
    expect(container.volumeMounts).toEqual([{ name: "host", mountPath: "/host", mountPropagation: "HostToContainer" }]);
  });

  it("has all its objects in the inventory, and the roles that only the driver of other operators needs", () => {
    const inventory = componentInventory(settingsWith()).filter(({ component }) => component === name);
    const own = objectsOf(name).map(({ kind, metadata }) => `${kind} ${metadata.name}`);
    const left = ["pod-access", "scc"].flatMap((use) =>
      ["Role", "RoleBinding"].map((kind) => `${kind} sriov-dra-driver-${use}`),
    );
    const listed = inventory.map((item) => `${item.type.kind} ${item.name}`);
    expect(listed.toSorted()).toEqual([...own, ...left].toSorted());
  });

  it("is not wanted by the feature gate in a cluster without ResourceClaims, which is reported", () => {
    const config = configWith({ featureGates: { dynamicResourceAllocation: true } });
    const field = "spec.featureGates.dynamicResourceAllocation";
    expect(renderComponents({ sriov: config }, settingsWith({ lacksClaims: true })).problems).toMatchObject([
      { field },
    ]);
    expect(renderComponents({ sriov: config }, settingsWith({ usesClaims: true })).problems).toEqual([]);
  });
});
