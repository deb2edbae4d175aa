// SPDX-License-Identifier: Apache-2.0
/** The events of ovn-offload: one for each change of a pool or a host, also if the service is killed in between. */
import { afterAll, beforeAll, expect, it } from "@jest/globals";
import { hostPool } from "@switchyard/demo/openshift-objects";
import { namespace } from "@switchyard/test-cluster";
import { eventually } from "@switchyard/testing";
import { disposeOf } from "../src/dispose-of.ts";
import { fieldAt } from "../src/api/plain-api.ts";
import { settledWithinMs } from "./offload-cluster.ts";
import { startSimulatedCluster, type SimulatedOffloadCluster } from "./simulated-cluster.ts";

let simulated: SimulatedOffloadCluster;

beforeAll(async () => {
  simulated = await startSimulatedCluster(["host-1", "host-2"]);
}, 600_000);

afterAll(async () => {
  await disposeOf(simulated);
}, 120_000);

/** "Warning OvnOffloadDegraded SriovOperatorConfig/default: …", sorted; with the number of times if it is not 1. */
async function readEvents(): Promise<readonly string[]> {
  const found = await simulated.place.api.read(`/apis/events.k8s.io/v1/namespaces/${namespace}/events`);
  const items = fieldAt(found, "items");
  return (Array.isArray(items) ? (items as readonly unknown[]) : [])
    .filter((event) => fieldAt(event, "reportingController") === "switchyard-ovn-offload")
    .map((event) => {
      const at = (...path: readonly string[]) => String(fieldAt(event, ...path));
      const count = fieldAt(event, "series", "count");
      const times = typeof count === "number" ? ` (${count})` : "";
      return `${at("type")} ${at("reason")} ${at("regarding", "kind")}/${at("regarding", "name")}: ${at("note")}${times}`;
    })
    .toSorted();
}

async function untilEvents(expected: readonly string[]): Promise<void> {
  const arrived = async () => {
    const events = await readEvents();
    if (expected.every((event) => events.includes(event))) return true;
    throw new Error(events.join("\n"));
  };
  await eventually("the events are there", arrived, { withinMs: settledWithinMs });
  expect(await readEvents()).toEqual(expected.toSorted());
}

const config = "SriovOperatorConfig/default";
const ofHosts = (reason: string, note: string) =>
  ["host-1", "host-2"].map((name) => `Normal ${reason} SriovNetworkNodeState/${name}: ${note}`);
const wayIn = [
  `Normal OvnOffloadSelected ${config}: pool ${hostPool} is selected: OVN of its 2 nodes moves to their SmartNICs`,
  `Normal OvnOffloadReady ${config}: pool ${hostPool}: OVN of 2 nodes runs on their SmartNICs`,
  ...ofHosts("OvnOffloadHostReady", "OVN of the host runs on its SmartNIC"),
];

it("tells how a pool becomes ready, and does not repeat it after a restart", async () => {
  await simulated.wayIn();
  await untilEvents(wayIn);
  await simulated.service.process.kill();
  simulated.service.process.restart();
  // A change that is seen proves that the service has read everything again.
  await simulated.place.api.patch("/api/v1/nodes/host-1", {
    metadata: { labels: { "switchyard.io/ovn-offload-pool": null } },
  });
  await eventually("the label is back", async () => {
    const found = fieldAt(await simulated.place.api.read("/api/v1/nodes/host-1"), "metadata", "labels");
    return fieldAt(found, "switchyard.io/ovn-offload-pool") === hostPool;
  });
  await simulated.place.untilOverall("True Ready");
});

it("tells that a pool is degraded, and how it is restored", async () => {
  const already = await readEvents();
  const host = simulated.hosts.get("host-2");
  if (host === undefined) throw new Error("host-2 does not exist");
  host.cards = ["a2d6", "a2dc"];
  await simulated.place.untilOverall("Degraded", "has 2 SmartNICs");
  const warnings = await eventually("the warning is there", async () => {
    const events = await readEvents();
    return events.filter((event) => !already.includes(event) && event.startsWith("Warning")).length > 0 && events;
  });
  expect(warnings.filter((event) => event.startsWith("Warning"))).toEqual([
    expect.stringContaining(`Warning OvnOffloadDegraded ${config}: pool ${hostPool}: node host-2: `),
  ]);
  host.cards = ["a2d6"];
  await simulated.place.untilOverall("True Ready");
  await simulated.wayOut();
  const left = [
    `Normal OvnOffloadLeaving ${config}: pool ${hostPool} is no longer selected: its 2 nodes are being restored`,
    `Normal OvnOffloadRestored ${config}: pool ${hostPool}: all nodes are restored`,
    ...ofHosts("OvnOffloadHostLeaving", "the host is no longer selected: OVN returns from its SmartNIC"),
    ...ofHosts("OvnOffloadHostRestored", "nothing of OVN on SmartNICs is left on the node"),
  ];
  await eventually("the events are there", async () => {
    const events = await readEvents();
    if (left.every((event) => events.includes(event))) return true;
    throw new Error(events.join("\n"));
  });
});
