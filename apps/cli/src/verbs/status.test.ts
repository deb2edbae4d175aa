// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { healthyCluster, type Editable } from "../diagnosis/testing/healthy-cluster.ts";
import { isJsonObject, textAt } from "../json.ts";
import { runCli } from "../testing/run-cli.ts";

const run = (objects: readonly unknown[], ...flags: readonly string[]) =>
  runCli(["status", "-f", "-", ...flags], { input: objects });

/** The object of the cluster, to change it. */
function named(objects: readonly Editable[], kind: string, name: string): Editable {
  const found = objects.find((object) => object["kind"] === kind && textAt(object["metadata"], "name") === name);
  if (found === undefined) throw new TypeError(`the cluster has no ${kind} ${name}`);
  return found;
}

function condition(type: string, status: string, message: string) {
  return { type, status, reason: "Test", message, lastTransitionTime: "2026-01-05T10:00:00Z" };
}

describe("switchyard status", () => {
  it("says in a few lines that all is well", async () => {
    const { code, out, err } = await run(await healthyCluster());
    expect([code, err]).toEqual([0, ""]);
    expect(out.split("\n").map((line) => line.split(/ {2,}/))).toEqual(
      expect.arrayContaining([
        ["Operator's namespace: sriov-network-operator"],
        ["Nodes: 2 configured."],
        ["SriovNetworkNodePolicy/sriov-network-operator/fast", "nics", "0/0", "True", "-"],
        ["Networks: 1 ready."],
        ["nics", "8", "0 (perhaps 8)", "2"],
        ["Nothing is wrong that switchyard doctor can find."],
      ]),
    );
  });

  it("names nodes, policies and networks that are not as they should be, and why", async () => {
    const objects = await healthyCluster();
    Object.assign(named(objects, "SriovNetworkNodeState", "worker-1"), {
      status: { syncStatus: "Failed", lastSyncError: "set sriov_numvfs 64 on 0000:3b:00.0: ENOSPC\u001b[2J" },
    });
    const waiting = named(objects, "SriovNetworkNodeState", "worker-2");
    Object.assign(Object(waiting["metadata"]), {
      annotations: { "sriovnetwork.openshift.io/desired-state": "Drain_Required" },
    });
    Object.assign(Object(waiting["status"]), {
      conditions: [condition("DrainProgressing", "True", "PodDisruptionBudget apps/client allows no eviction")],
    });
    Object.assign(named(objects, "SriovNetwork", "net"), {
      status: { conditions: [condition("Ready", "False", "the namespace apps does not exist")] },
    });
    Object.assign(named(objects, "SriovNetworkNodePolicy", "fast"), {
      status: { matchedNodeCount: 2, readyNodeCount: 0, conditions: [condition("Ready", "False", "0 of 2 nodes")] },
    });
    const { code, out } = await run(objects);
    expect(code).toBe(1);
    for (const line of [
      "Nodes: 0 configured, 1 changing, 1 failed.",
      "worker-1   failed     set sriov_numvfs 64 on 0000:3b:00.0: ENOSPC?[2J",
      "worker-2   changing   PodDisruptionBudget apps/client allows no eviction",
      "SriovNetworkNodePolicy/sriov-network-operator/fast   nics       0/2     False   0 of 2 nodes",
      "Networks: 0 ready, 1 not ready.",
      "SriovNetwork/sriov-network-operator/net   the namespace apps does not exist",
    ]) {
      expect(out).toContain(line);
    }
    expect(out).toMatch(/errors?.*: run switchyard doctor for causes and next steps\./);
  });

  it("names eight nodes at most, and says how many there are", async () => {
    const objects = await healthyCluster();
    const state = named(objects, "SriovNetworkNodeState", "worker-1");
    const silent = Array.from({ length: 20 }, (_, index) => {
      return {
        ...state,
        metadata: { ...(isJsonObject(state["metadata"]) && state["metadata"]), name: `idle-${index}` },
        status: {},
      };
    });
    const { out } = await run([...objects, ...silent]);
    expect(out).toContain("Nodes: 2 configured, 20 without a report.\n");
    expect(out.match(/^ {2}idle-/gm)).toHaveLength(8);
    expect(out).toContain("\n  and 12 more\n");
  });

  it("prints the same as data", async () => {
    const { out } = await run(await healthyCluster(), "-o", "json");
    expect(JSON.parse(out)).toMatchObject({
      nodes: { configured: 2, changing: 0, failed: 0, silent: 0 },
      unfinishedNodes: [],
      policies: [{ resource: "nics", ready: "True" }],
      resources: [{ resource: "nics", vfs: 8, nodes: 2 }],
      findings: { errors: 0, warnings: 0 },
    });
  });
});
