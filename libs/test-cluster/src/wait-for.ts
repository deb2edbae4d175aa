// SPDX-License-Identifier: Apache-2.0
/**
 * waitFor, eachNode and policyIs wait for the result of a change.
 * Usage: `await policyIs(news, "fast", "Ready");`
 */
import type { SriovNetworkNodeState } from "@switchyard/api";
import { eventually } from "@switchyard/testing";
import type { News } from "./node-news.ts";
import type { TestCluster } from "./test-cluster.ts";

/** Waits for a condition of an object ("sriovnetwork/fast-net") by kubectl wait, as a pipeline does. */
export async function waitFor(cluster: TestCluster, object: string, type: string): Promise<void> {
  const output = await cluster.kubectl(["wait", `--for=condition=${type}`, object, "--timeout=60s"]);
  if (!output.includes("condition met")) throw new Error(`${object} is not ${type}: ${output}`);
}

/** Waits until there are this many node states and `holds` returns true for each. */
export async function eachNode(
  news: News,
  { nodes: count, withinMs }: { readonly nodes: number; readonly withinMs: number },
  what: string,
  holds: (state: SriovNetworkNodeState) => boolean,
): Promise<void> {
  const hold = (): boolean => news.states.size === count && news.states.list().every(holds);
  await eventually(`each node: ${what}`, hold, { withinMs });
}

/** Waits until the condition of a policy is True for its current generation. The cause of a rejection has its last status. */
export async function policyIs(news: News, name: string, type: string, withinMs = 30_000): Promise<void> {
  const holds = (): boolean => {
    const policy = news.policies.get(name);
    const { conditions = [], observedGeneration } = policy?.status ?? {};
    const holding = conditions.some((condition) => condition.type === type && condition.status === "True");
    if (holding && observedGeneration === policy?.metadata.generation) return true;
    throw new Error(`generation ${policy?.metadata.generation}, status ${JSON.stringify(policy?.status)}`);
  };
  await eventually(`policy ${name} ${type}`, holds, { withinMs });
}
