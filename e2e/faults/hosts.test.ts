// SPDX-License-Identifier: Apache-2.0
/**
 * Tests a node's host with faults. A policy is scaled up while a write of the host hangs, the daemon is lost
 * permanently, or the netdev of the PF is missing for a while. This happens at each write of the same change without
 * faults. The node must reach the same state and report what hangs, and the VFs of the other port, which pods may use,
 * must never change. `npm run e2e -- faults` runs a third of all points, `npm run e2e -- faults --all` all of them.
 */
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import type { SriovNetworkNodePolicySpec, SriovNetworkNodeState } from "@switchyard/api";
import {
  applyPolicy,
  namespace,
  type NodeLog,
  policyIs,
  startTestCluster,
  type TestCluster,
  logNodeChanges,
  silentNarrator,
} from "@switchyard/test-cluster";
import { pci, type FakeWrite } from "@switchyard/host/testing";
import { eventually } from "@switchyard/testing";
import { setTimeout as delay } from "node:timers/promises";
import { disposeOf } from "../src/dispose-of.ts";
import { createHostNode, stepDeadlineMs, type HostNode } from "./host-node.ts";

const [first, second] = [pci("0000:3b:00.0"), pci("0000:3b:00.1")];
const kinds = ["the write hangs", "the daemon is lost", "the netdev is away"] as const;
const takesAll = process.env["SWITCHYARD_FAULTS"] === "all";
const within = 60_000;

interface Point {
  readonly kind: (typeof kinds)[number];
  readonly port: FakeWrite["port"];
  /** Number of the write on this port, from 1. */
  readonly nth: number;
}

let testCluster: TestCluster;
let news: NodeLog;

beforeAll(async () => {
  testCluster = await startTestCluster(silentNarrator);
  await testCluster.kubectl(["apply", "-f", "-"], {
    apiVersion: "sriovnetwork.openshift.io/v1",
    kind: "SriovOperatorConfig",
    metadata: { name: "default", namespace },
    spec: { disableDrain: true },
  });
  news = logNodeChanges(testCluster.transport, silentNarrator);
}, 600_000);

afterAll(async () => {
  await disposeOf(news, testCluster);
}, 60_000);

async function apply(node: string, port: "fast" | "slow", spec: Partial<SriovNetworkNodePolicySpec>): Promise<string> {
  const name = `${node}-${port}`;
  await applyPolicy(testCluster, name, {
    nodeSelector: { "kubernetes.io/hostname": node },
    nicSelector: { rootDevices: [port === "fast" ? first : second] },
    resourceName: port,
    numVfs: 2,
    ...spec,
  });
  return name;
}

async function ready(...policies: readonly string[]): Promise<void> {
  for (const policy of policies) await policyIs(news, policy, "Ready", within);
}

/** Creates a node with two VFs on each port. */
async function begin(name: string): Promise<HostNode> {
  const node = await createHostNode(testCluster, name);
  node.startDaemon();
  await ready(await apply(name, "fast", {}), await apply(name, "slow", {}));
  return node;
}

async function stateIs(node: string, what: string, holds: (state: SriovNetworkNodeState) => boolean): Promise<void> {
  const isSo = (): boolean => {
    const state = news.states.get(node);
    return state !== undefined && holds(state);
  };
  await eventually(`${node} ${what}`, isSo, { withinMs: within });
}

const reasonOf = (state: SriovNetworkNodeState, type: string) =>
  state.status?.conditions?.find((condition) => condition.type === type && condition.status === "True")?.reason;

/** Returns the writes of the change without faults. */
async function writesOfChange(): Promise<readonly FakeWrite[]> {
  await using node = await begin("undisturbed");
  const before = node.kernel.writes.length;
  await ready(await apply("undisturbed", "fast", { numVfs: 4, mtu: 3000 }));
  return node.kernel.writes.slice(before);
}

async function injectFault({ kind, port, nth }: Point, name: string): Promise<void> {
  await using node = await begin(name);
  const { kernel } = node;
  const gate = Promise.withResolvers<undefined>();
  const applied = Promise.withResolvers<undefined>();
  const faults = {
    "the write hangs": { until: gate.promise },
    // The kernel completes the write, but the daemon gets no answer.
    "the daemon is lost": {
      act: () => {
        node.loseDaemon();
      },
    },
    "the netdev is away": {
      act: () => {
        kernel.moveToPod(first);
      },
    },
  };
  const before = kernel.writes.length;
  const strike = {
    delayMs: 1,
    act: () => {
      applied.resolve(undefined);
    },
  };
  kernel.fault({ port, method: "writes", nth }, strike);
  kernel.fault({ port, method: "writes", nth }, faults[kind]);
  const fast = await apply(name, "fast", { numVfs: 4, mtu: 3000 });
  await applied.promise;

  if (kind === "the write hangs") {
    await stateIs(name, "reports what hangs", (state) => {
      return state.status?.syncStatus === "Failed" && state.status.lastSyncError?.includes("no answer") === true;
    });
    // The other port is still configured, unless the write is the record of the ownership of a PF.
    const slow = await apply(name, "slow", { numVfs: 2, mtu: 2000 });
    if (port !== "records") {
      await stateIs(
        name,
        "configures the other port",
        ({ status }) => status?.interfaces?.find((pf) => pf.pciAddress === second)?.mtu === 2000,
      );
      // udev rules are not steps: the node state has them as a problem of the PF.
      const isStep = port !== "files" && port !== "udev";
      await stateIs(name, "still reports it", (state) =>
        isStep
          ? reasonOf(state, "Degraded") === "StepHangs"
          : state.status?.lastSyncError?.includes("no answer") === true,
      );
    }
    gate.resolve(undefined);
    await ready(slow);
  }
  if (kind === "the daemon is lost") {
    await delay(stepDeadlineMs / 4);
    node.startDaemon();
  }
  if (kind === "the netdev is away") {
    await delay(stepDeadlineMs);
    kernel.returnFromPod(first);
  }

  await ready(fast, `${name}-slow`);
  await stateIs(name, "succeeds", (state) => {
    return state.status?.syncStatus === "Succeeded" && reasonOf(state, "Degraded") === undefined;
  });
  const host = kernel.host();
  const counts = await Promise.all([first, second].map(async (pf) => (await host.sriov.readPf(pf))?.sriov?.numVfs));
  expect(counts).toEqual([4, 2]);
  const ofOther = kernel.writes
    .slice(before)
    .filter(({ method, args }) => method === "setNumVfs" && args[0] === second);
  expect(ofOther).toEqual([]);
}

describe("a node's host with a fault at a write", () => {
  it(
    "reaches the same state, reports what hangs, and does not change the VFs of the other port",
    async () => {
      const counts = new Map<FakeWrite["port"], number>();
      const points = (await writesOfChange()).flatMap(({ port }): readonly Point[] => {
        const nth = (counts.get(port) ?? 0) + 1;
        counts.set(port, nth);
        return kinds.map((kind) => ({ kind, port, nth }));
      });
      const chosen = points.filter((_, at) => takesAll || Math.floor(at / kinds.length) % 3 === at % 3);
      expect(new Set(chosen.map(({ kind }) => kind)).size).toBe(kinds.length);
      const findings: string[] = [];
      for (const [at, point] of chosen.entries()) {
        const where = `${point.kind} at write ${point.nth} of ${point.port}`;
        process.stderr.write(`hosts: ${at + 1} of ${chosen.length} points, ${findings.length} findings: ${where}\n`);
        try {
          await injectFault(point, `host-${at + 1}`);
        } catch (error) {
          findings.push(`${where} (host-${at + 1}): ${error instanceof Error ? error.message : String(error)}`);
        }
      }
      expect(findings).toEqual([]);
    },
    30 * 60_000,
  );
});
