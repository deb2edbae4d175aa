// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { annotations } from "@switchyard/api";
import { Registry } from "@switchyard/service";
import { registerFleetMetrics } from "./fleet-metrics.ts";
import { createCluster, nic } from "../testing/cluster.ts";

/** Returns the samples of one metric. */
async function samplesOf(registry: Registry, name: string): Promise<readonly string[]> {
  const text = await registry.getSingleMetricAsString(name);
  return text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
}

describe("registerFleetMetrics", () => {
  it("counts nodes by sync status and VFs by policy at each scrape", async () => {
    const cluster = createCluster();
    const registry = new Registry();
    registerFleetMetrics(registry, cluster);
    cluster.addPolicy("fast");
    cluster.addPolicy("unused");
    const spec = {
      interfaces: [{ pciAddress: "0000:3b:00.0", numVfs: 2, vfGroups: [{ policyName: "fast", vfRange: "0-1" }] }],
    };
    const Vfs = [0, 1].map((vfID) => ({ vfID, pciAddress: `0000:3b:02.${vfID}`, driver: "iavf" }));
    const status = { interfaces: [nic({ numVfs: 2, Vfs })], syncStatus: "Succeeded" };
    cluster.setState("worker-1", { spec, status });
    cluster.setState("worker-2", { spec, status });
    cluster.setState("worker-3");

    expect(await samplesOf(registry, "switchyard_node_states")).toEqual([
      'switchyard_node_states{sync_status="Succeeded"} 2',
      'switchyard_node_states{sync_status="Unknown"} 1',
    ]);
    expect(await samplesOf(registry, "switchyard_policy_vfs")).toEqual([
      'switchyard_policy_vfs{policy="fast"} 4',
      'switchyard_policy_vfs{policy="unused"} 0',
    ]);
    cluster.removePolicy("unused");
    cluster.setState("worker-2");
    expect(await samplesOf(registry, "switchyard_policy_vfs")).toEqual(['switchyard_policy_vfs{policy="fast"} 2']);
  });

  it("counts VFs by resource, and those of pods where the kubelet answers", async () => {
    const cluster = createCluster();
    const registry = new Registry();
    registerFleetMetrics(registry, cluster);
    const vfGroups = [{ policyName: "fast", resourceName: "fast_nics", vfRange: "0-2" }];
    const spec = { interfaces: [{ pciAddress: "0000:3b:00.0", numVfs: 3, vfGroups }] };
    const holder = { namespace: "default", name: "pod", via: "device-plugin" as const, resource: "a/b", since: "" };
    const Vfs = [
      { vfID: 0, pciAddress: "0000:3b:02.0", driver: "iavf", holder },
      { vfID: 1, pciAddress: "0000:3b:02.1", driver: "iavf" },
    ];
    const interfaces = [nic({ numVfs: 3, Vfs })];
    cluster.setState("worker-1", { spec, status: { interfaces, holders: { known: true } } });
    cluster.setState("worker-2", { spec, status: { interfaces, holders: { known: false } } });

    expect(await samplesOf(registry, "switchyard_resource_vfs")).toEqual([
      'switchyard_resource_vfs{resource="fast_nics",state="wanted"} 6',
      'switchyard_resource_vfs{resource="fast_nics",state="configured"} 4',
      'switchyard_resource_vfs{resource="fast_nics",state="held"} 1',
      'switchyard_resource_vfs{resource="fast_nics",state="free"} 1',
    ]);
  });

  it("reports the age of the oldest slots, also of stalled daemons", async () => {
    const cluster = createCluster();
    const registry = new Registry();
    registerFleetMetrics(registry, cluster, () => Date.parse("2026-11-20T12:10:00Z"));
    const hold = (name: string, answer: string, lastTransitionTime: string) => {
      const type = answer === "Draining" ? "DrainProgressing" : answer;
      const condition = { type, status: "True", reason: "R", message: "", lastTransitionTime } as const;
      cluster.setState(name, { status: { conditions: [condition] } }, { [annotations.currentState]: answer });
    };
    const ages = async () =>
      (await samplesOf(registry, "switchyard_drain_slot_age_seconds")).map((line) => line.slice(33));
    expect(await ages()).toEqual(['{state="draining"} 0', '{state="complete"} 0', '{state="stalled"} 0']);
    hold("worker-1", "Draining", "2026-11-20T12:09:00Z");
    hold("worker-2", "DrainComplete", "2026-11-20T12:08:00Z");
    expect(await ages()).toEqual(['{state="draining"} 60', '{state="complete"} 120', '{state="stalled"} 0']);
    hold("worker-3", "DrainComplete", "2026-11-20T12:00:00Z");
    expect(await ages()).toEqual(['{state="draining"} 60', '{state="complete"} 600', '{state="stalled"} 600']);
  });

  it("reports counts of policies and pools", async () => {
    const cluster = createCluster();
    const registry = new Registry();
    registerFleetMetrics(registry, cluster);
    cluster.addPool("gpu", { nodeSelector: {} });
    cluster.addPolicy("fast");
    const policy = cluster.policies.get("fast");
    if (policy === undefined) throw new Error("no policy");
    const metadata = { ...policy.metadata, resourceVersion: "99" };
    const reported = { ...policy, metadata, status: { matchedNodeCount: 3, readyNodeCount: 2 } };
    cluster.policies.upsert(reported);

    expect(await samplesOf(registry, "switchyard_matched_nodes")).toEqual([
      'switchyard_matched_nodes{kind="SriovNetworkNodePolicy",name="fast"} 3',
      'switchyard_matched_nodes{kind="SriovNetworkPoolConfig",name="gpu"} 0',
    ]);
    expect(await samplesOf(registry, "switchyard_ready_nodes")).toContain(
      'switchyard_ready_nodes{kind="SriovNetworkNodePolicy",name="fast"} 2',
    );
  });
});
