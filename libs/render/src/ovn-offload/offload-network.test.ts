// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { offloadNetworks, presentOffloadNetwork } from "./offload-network.ts";

const at = { namespace: "default", name: "default" };
const [two, three] = ["openshift.io/bluefield2", "openshift.io/bluefield3"];

/** A stored network, as its owner created it. */
function stored(name: string, resource: string, { config = "", isOwn = false } = {}) {
  const labels = isOwn ? { "app.kubernetes.io/managed-by": "switchyard-ovn-offload" } : {};
  const annotations = { "k8s.v1.cni.cncf.io/resourceName": resource };
  return presentOffloadNetwork({ metadata: { name, resourceVersion: "7", labels, annotations }, spec: { config } });
}

const written = (resources: readonly string[], ...present: Parameters<typeof offloadNetworks>[1]) => {
  const { writes, unneeded, problems } = offloadNetworks(resources, present, at);
  return {
    writes: writes.map(({ network: { metadata } }) => [metadata.name, Object.values(metadata.annotations ?? {})[0]]),
    unneeded: unneeded.map(({ name }) => name),
    problems,
  };
};

/** The form that the documentation of OVN-Kubernetes has. */
const documented = '{"cniVersion":"0.3.1","name":"ovn-kubernetes","type":"ovn-k8s-cni-overlay","ipam":{},"dns":{}}';

describe("offloadNetworks", () => {
  it("writes the network that the documentation of OVN-Kubernetes shows", () => {
    expect(offloadNetworks([two], [], at).networks).toEqual([
      {
        apiVersion: "k8s.cni.cncf.io/v1",
        kind: "NetworkAttachmentDefinition",
        metadata: {
          name: "default",
          namespace: "default",
          labels: { "app.kubernetes.io/managed-by": "switchyard-ovn-offload" },
          annotations: { "k8s.v1.cni.cncf.io/resourceName": two },
        },
        spec: { config: documented },
      },
    ]);
  });

  it("gives each further resource a name of its own", () => {
    expect(written([three, two, two]).writes).toEqual([
      ["default", two],
      ["default-bluefield3", three],
    ]);
    expect(written(["a/All", "a/My_VFs"]).writes).toEqual([
      ["default", "a/All"],
      ["default-my-vfs", "a/My_VFs"],
    ]);
  });

  it("keeps the resource of a stored network when another resource comes", () => {
    const own = stored("default", three, { config: documented, isOwn: true });
    expect(written([two, three], own)).toEqual({ writes: [["default-bluefield2", two]], unneeded: [], problems: [] });
  });

  it("restores its network after somebody changed it, and names those that no resource needs", () => {
    const changed = stored("default", two, {
      config: '{"type":"ovn-k8s-cni-overlay","topology":"layer2"}',
      isOwn: true,
    });
    const other = stored("default-bluefield3", three, { config: documented, isOwn: true });
    expect(written([two], changed, other)).toEqual({
      writes: [["default", two]],
      unneeded: ["default-bluefield3"],
      problems: [],
    });
  });

  it("leaves a network of somebody else with its name, and accepts it if it does the same", () => {
    const spaced = stored("default", two, { config: documented.replaceAll(",", ", ") });
    expect(written([two], spaced)).toEqual({ writes: [], unneeded: [], problems: [] });
    const others = [
      stored("default", three, { config: documented }),
      stored("default", two, { config: '{"type":"ovn-k8s-cni-overlay","topology":"layer2","name":"x"}' }),
      stored("default", two, { config: '{"type":"sriov"}' }),
      stored("default", two, { config: "not JSON" }),
      stored("default", "", {}),
    ];
    for (const other of others) {
      const { writes, problems } = written([two], other);
      expect([writes, problems]).toEqual([
        [],
        [expect.stringMatching(/^NetworkAttachmentDefinition default\/default was created by another program/)],
      ]);
    }
  });
});
