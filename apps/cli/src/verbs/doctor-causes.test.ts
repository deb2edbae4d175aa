// SPDX-License-Identifier: Apache-2.0
/** One cause is one finding: what it explains is listed below it. */
import { beforeAll, describe, expect, it } from "@jest/globals";
import { client, healthyCluster, type Editable } from "../diagnosis/testing/healthy-cluster.ts";
import { isJsonObject, listAt, textAt } from "../json.ts";
import { runCli } from "../testing/run-cli.ts";

const ns = "sriov-network-operator";
const time = "2026-01-05T10:59:00Z";
let healthy: readonly Editable[] = [];

beforeAll(async () => {
  healthy = await healthyCluster();
});

const condition = (type: string, reason: string, message = "because", status = "True") => {
  return { type, status, reason, message, lastTransitionTime: time };
};

/** A copy of the healthy cluster in which objects of a kind have further members. */
function clusterWith(changes: readonly { kind: string; name?: string; set: (object: Editable) => void }[]): Editable[] {
  const cluster = structuredClone([...healthy]);
  for (const { kind, name, set } of changes) {
    const found = cluster.filter((object) => {
      return object["kind"] === kind && (name === undefined || textAt(object["metadata"], "name") === name);
    });
    expect(found).not.toEqual([]);
    for (const object of found) set(object);
  }
  return cluster;
}

const statusOf = (object: Editable): Editable => (object["status"] ??= {}) as Editable;
const conditions = (kind: string, name: string | undefined, list: readonly unknown[]) => ({
  kind,
  ...(name !== undefined && { name }),
  set: (object: Editable) => {
    statusOf(object)["conditions"] = list;
  },
});
const drained = (name: string, list: readonly unknown[], isDraining = true) => ({
  kind: "SriovNetworkNodeState",
  name,
  set: (object: Editable) => {
    statusOf(object)["conditions"] = list;
    (object["metadata"] as Editable)["annotations"] = {
      "sriovnetwork.openshift.io/desired-state": "Drain_Required",
      "sriovnetwork.openshift.io/current-state": isDraining ? "Draining" : "Idle",
    };
  },
});

/** "CODE" of causes, and "CODE <- CAUSE" of what they explain, in the order of the output. */
async function chains(input: readonly Editable[]) {
  const [json, text] = await Promise.all([
    runCli(["doctor", "-f", "-", "-o", "json"], { input }),
    runCli(["doctor", "-f", "-"], { input }),
  ]);
  const findings = listAt(JSON.parse(json.out), "findings").filter(isJsonObject);
  const rows = findings.map((finding) => {
    const cause = textAt(finding["causedBy"], "code");
    return `${textAt(finding, "code") ?? ""}${cause === undefined ? "" : ` <- ${cause}`}`;
  });
  return { rows, findings, text: text.out };
}

describe("switchyard doctor, with one cause", () => {
  const budget = {
    kind: "PodDisruptionBudget",
    set: (object: Editable) => {
      statusOf(object)["disruptionsAllowed"] = 0;
    },
  };
  const waiting = [
    condition("Progressing", "WaitingForDrain"),
    condition("DrainProgressing", "EvictingPods", "1 pod left: apps/client-0 cannot be evicted now"),
    condition("DevicePluginConfigured", "VfsMissing", "because", "False"),
  ];
  const configuring = conditions("SriovNetworkNodePolicy", undefined, [condition("Progressing", "Configuring")]);

  it("names a budget, and below it the drain, the nodes that wait for it, and the policy", async () => {
    const queued = [
      condition("DrainProgressing", "WaitingForSlot", "because", "False"),
      condition("Progressing", "WaitingForDrain"),
    ];
    const next = drained("worker-2", queued, false);
    const { rows, text } = await chains(clusterWith([budget, drained("worker-1", waiting), next, configuring]));
    expect(rows[0]).toBe("DisruptionBudgetBlocksDrain");
    expect(rows.slice(1).sort()).toEqual([
      "Configuring <- DisruptionBudgetBlocksDrain",
      "EvictingPods <- DisruptionBudgetBlocksDrain",
      "WaitingForDrain <- DisruptionBudgetBlocksDrain",
      "WaitingForDrain <- DisruptionBudgetBlocksDrain",
      "WaitingForSlot <- DisruptionBudgetBlocksDrain",
    ]);
    expect(text.match(/^ {2}Next: /gm)).toHaveLength(1);
    expect(text).toContain(
      `\n  └ info EvictingPods SriovNetworkNodeState/${ns}/worker-1: 1\n    pod left: apps/client-0`,
    );
    expect(text).toMatch(/\nDoctor: 1 error, 0 warnings\.\n$/);
  });

  it("blames the budget only for nodes whose pods it holds", async () => {
    const { rows } = await chains(clusterWith([budget, drained("worker-1", waiting), drained("worker-2", waiting)]));
    expect(rows).toContain("DisruptionBudgetBlocksDrain");
    expect(rows.filter((row) => row.startsWith("EvictingPods"))).toEqual([
      "EvictingPods <- DisruptionBudgetBlocksDrain",
      "EvictingPods <- DisruptionBudgetBlocksDrain",
    ]);
    const elsewhere = clusterWith([budget, drained("worker-1", waiting), drained("worker-2", waiting)]).filter(
      (object) =>
        !(
          object["kind"] === "Pod" &&
          textAt(object["spec"], "nodeName") === "worker-2" &&
          textAt(object["metadata"], "namespace") === "apps"
        ),
    );
    const { rows: fewer } = await chains(elsewhere);
    expect(fewer.filter((row) => row.startsWith("EvictingPods")).sort()).toEqual([
      "EvictingPods",
      "EvictingPods <- DisruptionBudgetBlocksDrain",
    ]);
  });

  it("names an operator that does not run, and below it what waits for it", async () => {
    const deployment = {
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: { name: "sriov-network-operator", namespace: ns },
      spec: { replicas: 1 },
      status: { availableReplicas: 0 },
    };
    const { rows } = await chains([...clusterWith([budget, drained("worker-1", waiting), configuring]), deployment]);
    expect(rows[0]).toBe("OperatorNotRunning");
    expect(rows).toContain("EvictingPods <- OperatorNotRunning");
    expect(rows).toContain("Configuring <- OperatorNotRunning");
    expect(rows).toContain("DisruptionBudgetBlocksDrain");
  });

  it("names the pod of a webhook that does not start, its state, and the way out", async () => {
    const pod = {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: "operator-webhook-0", namespace: ns, labels: { app: "operator-webhook" } },
      status: {
        phase: "Pending",
        containerStatuses: [{ name: "webhook", restartCount: 0, state: { waiting: { reason: "ImagePullBackOff" } } }],
      },
    };
    const unserved = { kind: "EndpointSlice", set: (object: Editable) => (object["endpoints"] = []) };
    const { rows, findings } = await chains([...clusterWith([unserved]), pod]);
    expect(rows).toEqual(["ContainerNotRunning", "WebhookWithoutEndpoints <- ContainerNotRunning"]);
    expect(findings[1]?.["evidence"]).toEqual([
      `pod ${ns}/operator-webhook-0: in ImagePullBackOff`,
      "in an emergency, kubectl delete validatingwebhookconfiguration sriov-operator-webhook-config admits changes unreviewed until the operator writes it again",
    ]);
  });

  it("names a node that failed, and below it its policy, and only selections that contradict conditions", async () => {
    const failed = conditions("SriovNetworkNodeState", "worker-1", [condition("Degraded", "StepFailed")]);
    const policy = conditions("SriovNetworkNodePolicy", undefined, [condition("Degraded", "NodesFailed")]);
    expect((await chains(clusterWith([failed, policy]))).rows).toEqual(["StepFailed", "NodesFailed <- StepFailed"]);
    const missing = condition("DevicePluginConfigured", "VfsMissing", "because", "False");
    const failedToo = conditions("SriovNetworkNodeState", "worker-1", [condition("Degraded", "NotPossible"), missing]);
    expect((await chains(clusterWith([failedToo, policy]))).rows.toSorted()).toEqual([
      "NodesFailed <- NotPossible",
      "NotPossible",
      "VfsMissing <- NotPossible",
    ]);
    const unmatched = conditions("SriovNetworkNodePolicy", undefined, [
      condition("Ready", "NoNodesMatched", "x", "False"),
    ]);
    const misspelt = {
      kind: "SriovNetworkNodePolicy",
      set: (object: Editable) => ((object["spec"] as Editable)["nodeSelector"] = { wroker: "yes" }),
    };
    const { rows } = await chains(clusterWith([unmatched, misspelt]));
    expect(rows).toContain("NoNodesMatched <- NodeSelectorMatchesNothing");
  });
});

describe("switchyard doctor, with evidence of the past", () => {
  const warningAt = (lastTimestamp: string, name: string): Editable => ({
    apiVersion: "v1",
    kind: "Event",
    type: "Warning",
    reason: "SyncFailed",
    metadata: { name, namespace: ns },
    involvedObject: { kind: "SriovNetworkNodeState", namespace: ns, name: "worker-1" },
    lastTimestamp,
    message: name,
  });

  it("leaves out events from before a condition", async () => {
    const failed = conditions("SriovNetworkNodeState", "worker-1", [condition("Degraded", "StepFailed")]);
    const events = [warningAt("2026-01-05T10:44:00Z", "old"), warningAt("2026-01-05T10:58:55Z", "new")];
    const { findings } = await chains([...clusterWith([failed]), ...events]);
    const evidence = JSON.stringify(findings[0]?.["evidence"]);
    expect(evidence).toContain(": new");
    expect(evidence).not.toContain(": old");
  });

  it("leaves out an event that says what the finding says, and errors of a node that has succeeded since", async () => {
    const failed = conditions("SriovNetworkNodeState", "worker-1", [condition("Degraded", "StepFailed", "no space")]);
    const { findings } = await chains([...clusterWith([failed]), warningAt("2026-01-05T10:59:01Z", "no space")]);
    expect(JSON.stringify(findings[0]?.["evidence"])).not.toContain("event SyncFailed");
    const list = [condition("DevicePluginConfigured", "NotRegistered", "because", "False")];
    const waits = conditions("SriovNetworkNodeState", "worker-1", list);
    const { findings: later } = await chains([...clusterWith([waits]), warningAt("2026-01-05T10:59:01Z", "solved")]);
    expect(later[0]?.["code"]).toBe("NotRegistered");
    expect(JSON.stringify(later[0]?.["evidence"])).not.toContain("solved");
  });

  it("says which policies request what a node cannot do", async () => {
    const message = "spec.interfaces[0].numVfs: 200 VFs requested, but 0000:3b:00.0 supports at most 64";
    const failed = conditions("SriovNetworkNodeState", "worker-1", [condition("Degraded", "NotPossible", message)]);
    const cluster = clusterWith([failed]);
    const many = structuredClone(cluster.find(({ kind }) => kind === "SriovNetworkNodePolicy") ?? {});
    (many["metadata"] as Editable)["name"] = "many";
    (many["spec"] as Editable)["numVfs"] = 200;
    const { findings } = await chains([...cluster, many]);
    const found = findings.find(({ code }) => code === "NotPossible");
    expect(found?.["evidence"]).toEqual([
      `condition Degraded=True (NotPossible) since ${time}`,
      "policy fast: numVfs 4",
      "policy many: numVfs 200",
    ]);
  });

  it("finds the pod of a daemon by a command if it is not in the input", async () => {
    const failed = conditions("SriovNetworkNodeState", "worker-1", [condition("Degraded", "StepHangs")]);
    const without = clusterWith([failed]).filter(({ kind }) => kind !== "Pod");
    const { findings } = await chains(without);
    expect(findings.map(({ next }) => next)).toContain(
      `kubectl -n ${ns} get pods -o wide -l app=sriov-network-config-daemon --field-selector spec.nodeName=worker-1`,
    );
  });

  it("puts equal findings about several objects together", async () => {
    const pods = ["a", "b", "c", "d", "e", "f"].map((name) => {
      const requests = { "openshift.io/none": "1" };
      return { ...client(name), spec: { containers: [{ name: "main", resources: { requests, limits: requests } }] } };
    });
    const { text, rows } = await chains([...clusterWith([]), ...pods]);
    expect(rows.filter((row) => row === "ResourceOnNoNode")).toHaveLength(6);
    expect(text).toContain("error ResourceOnNoNode  Pod/apps/a, Pod/apps/b, Pod/apps/c, Pod/apps/d, and 2 more: ");
    expect(text).toMatch(/\nDoctor: 1 error, 1 warning\.\n$/);
  });
});
