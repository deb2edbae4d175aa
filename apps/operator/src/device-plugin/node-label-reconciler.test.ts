// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { labels } from "@switchyard/api";
import { createCluster, nic } from "../testing/cluster.ts";
import { createNodeLabelReconciler, nodeOfResources } from "./node-label-reconciler.ts";

const spec = { interfaces: [{ pciAddress: "0000:3b:00.0", numVfs: 2, vfGroups: [{ resourceName: "fast" }] }] };
const status = { interfaces: [nic()] };

/** A cluster with a config, and what the label of each patched node became. */
function setUp({ whenStatesAreWritten = (): Promise<void> => Promise.resolve() } = {}) {
  const cluster = createCluster();
  cluster.addConfig();
  const patched = new Map<string, string | null | undefined>();
  const reconcile = createNodeLabelReconciler({
    ...cluster,
    whenStatesAreWritten,
    patchLabels(node, changes) {
      const wanted = changes[labels.devicePlugin];
      if ((node.metadata.labels?.[labels.devicePlugin] ?? null) !== wanted) patched.set(node.metadata.name, wanted);
      return Promise.resolve();
    },
  });
  return { cluster, patched, look: (node: string) => reconcile(node, new AbortController().signal) };
}

describe("the device plugin's label", () => {
  it("is Enabled where there are resources, Disabled where there are none any more", async () => {
    const { cluster, patched, look } = setUp();
    cluster.addNode("with");
    cluster.setState("with", { spec, status });
    for (const [name, own] of [
      ["without", { [labels.devicePlugin]: "Enabled" }],
      ["never", {}],
    ] as const) {
      cluster.addNode(name, own);
      cluster.setState(name, { spec: { interfaces: [{ pciAddress: "0000:3b:00.0" }] }, status });
    }
    for (const name of ["with", "without", "never"]) await look(name);
    expect(Object.fromEntries(patched)).toEqual({ with: "Enabled", without: "Disabled" });
  });

  it("waits for the node states of a fleet, and comes then", async () => {
    const written = Promise.withResolvers<undefined>();
    const { cluster, patched, look } = setUp({ whenStatesAreWritten: () => written.promise });
    cluster.addNode("node");
    cluster.setState("node", { spec: {}, status });
    const looked = look("node");
    cluster.setState("node", { spec, status });
    expect(patched.size).toBe(0);
    written.resolve(undefined);
    await looked;
    expect(patched.get("node")).toBe("Enabled");
  });

  it("stays as it is while nothing is known of the node", async () => {
    const { cluster, patched, look } = setUp();
    cluster.addNode("new", { [labels.devicePlugin]: "Enabled" });
    await look("new");
    cluster.setState("new", { spec: {} });
    await look("new");
    expect(patched.size).toBe(0);
  });

  it("goes from a node that left, whoever put it there", async () => {
    const { cluster, patched, look } = setUp();
    cluster.addNode("left", { "kubernetes.io/os": "windows", [labels.devicePlugin]: "Enabled" });
    cluster.setState("left", { spec, status });
    await look("left");
    expect(patched.get("left")).toBeNull();
  });

  it("is nobody's business without a SriovOperatorConfig", async () => {
    const { cluster, patched, look } = setUp();
    cluster.addNode("node", { "kubernetes.io/os": "windows", [labels.devicePlugin]: "Enabled" });
    cluster.operatorConfigs.remove({ name: "default", namespace: "sriov-network-operator" });
    await look("node");
    expect(patched.size).toBe(0);
  });
});

describe("nodeOfResources", () => {
  it("wakes for resources that come and go, and not for what the daemon does", () => {
    const { cluster } = setUp();
    const woken: string[] = [];
    cluster.states.subscribe((change) => {
      woken.push(...nodeOfResources(change));
    });
    cluster.setState("node", { spec, status });
    cluster.setState("node", { spec, status: { ...status, syncStatus: "InProgress" } });
    cluster.setState("node", { spec: {}, status });
    expect(woken).toEqual(["node", "node"]);
  });
});
