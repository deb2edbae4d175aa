// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import fc from "fast-check";
import { groupsOf, planPods, type CandidateNode } from "./plan-pods.ts";

const options = { resource: "openshift.io/fast", hasOtherNetwork: true };

function plan(...free: readonly number[]) {
  const nodes = free.map((count, at): CandidateNode => ({ name: `w${at + 1}`, free: count, allocatable: 8 }));
  const { pods, leftOut } = planPods(nodes, options);
  return { pods: pods.map(({ node, role, targets }) => [node, role, ...targets].join(" ")), leftOut };
}

describe("planPods", () => {
  it("lets each node send to itself and to the next one", () => {
    expect(plan(2, 2, 3).pods).toEqual([
      "w1 answers",
      "w1 sends w1 w2",
      "w2 answers",
      "w2 sends w2 w3",
      "w3 answers",
      "w3 sends w3 w1",
      "w3 other-network",
    ]);
  });

  it("lets nodes with one free VF send and answer in turns", () => {
    expect(plan(1, 1).pods).toEqual(["w1 answers", "w2 sends w1"]);
    expect(plan(1).pods).toEqual(["w1 answers"]);
    expect(plan(1, 2).pods).toEqual(["w1 answers", "w2 answers", "w2 sends w2 w1"]);
  });

  it("names nodes without free VFs, and tells full ones from empty ones", () => {
    const nodes = [
      { name: "w1", free: 0, allocatable: 8 },
      { name: "w2", free: 0, allocatable: 0 },
    ];
    expect(planPods(nodes, options).leftOut).toEqual([
      {
        node: "w1",
        isProblem: false,
        text: "pods have requested all 8 devices of the resource openshift.io/fast on node w1",
      },
      {
        node: "w2",
        isProblem: true,
        text: "the kubelet of node w2 offers no device of the resource openshift.io/fast",
      },
    ]);
  });

  it("never needs more VFs than are free, and never sends to a node without a pod that answers", () => {
    fc.assert(
      fc.property(fc.array(fc.nat({ max: 4 }), { maxLength: 12 }), (free) => {
        const nodes = free.map((count, at) => ({ name: `w${at + 10}`, free: count, allocatable: 4 }));
        const { pods } = planPods(nodes, options);
        for (const { name, free: most } of nodes) {
          expect(pods.filter(({ node }) => node === name).length).toBeLessThanOrEqual(most);
        }
        const answering = pods.filter(({ role }) => role === "answers").map(({ node }) => node);
        expect(pods.flatMap(({ targets }) => targets).filter((node) => !answering.includes(node))).toEqual([]);
        // With a second pod anywhere, each pod that sends has a target.
        const sending = pods.filter(({ role }) => role === "sends");
        expect(sending.filter(({ targets }) => targets.length === 0)).toEqual([]);
      }),
    );
  });
});

describe("groupsOf", () => {
  it("begins each group with the last node of the one before", () => {
    expect(groupsOf([1, 2, 3, 4, 5], 3)).toEqual([
      [1, 2, 3],
      [3, 4, 5],
    ]);
    expect(groupsOf([1, 2], 3)).toEqual([[1, 2]]);
    expect(groupsOf([], 3)).toEqual([]);
  });
});
