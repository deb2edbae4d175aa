// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { afxdpOperatorConfigs, sriovOperatorConfigs, type Node } from "@switchyard/api";
import { countLosses, createMassLoss, type Census, type MassLossDeps } from "./mass-loss.ts";

const noon = Date.parse("2026-11-20T12:00:00Z");

function setUp(first: Census, config: MassLossDeps["config"] = sriovOperatorConfigs) {
  const world = {
    nowMs: noon,
    /** How far the wall clock was set. */
    jumpMs: 0,
    census: first,
    confirmed: undefined as string | undefined,
    counts: 0,
    excepted: [] as string[],
  };
  const massLoss = createMassLoss({
    census(except) {
      world.counts++;
      world.excepted = [1, 2, 3, 4, 5, 6].map((node) => `worker-${node}`).filter((name) => except.has(name));
      return world.census;
    },
    confirmed: () => world.confirmed,
    config,
    namespace: "ns",
    nowMs: () => world.nowMs + world.jumpMs,
    elapsedMs: () => world.nowMs - noon,
  });
  return { world, massLoss, pass: (ms: number) => (world.nowMs += ms) };
}

describe("createMassLoss", () => {
  it("holds the nodes for a minute if most of the configured nodes lose all their policies", () => {
    const { massLoss, pass } = setUp({ configured: 5, lost: 3 });
    const hold = massLoss("worker-1", true);
    expect(hold).toEqual({
      reason: "MassLoss",
      message:
        "3 of 5 configured nodes lost all their policies at once; restore the policies, or wait: the nodes are reset at " +
        "2026-11-20T12:01:00Z; to reset them now, run kubectl -n ns annotate --overwrite " +
        "sriovoperatorconfigs.sriovnetwork.openshift.io default switchyard.io/reset-confirmed=2026-11-20T12:01:00Z",
      afterMs: 60_000,
    });
    pass(20_000);
    expect(massLoss("worker-2", true)).toEqual({ ...hold, afterMs: 40_000 });
    pass(40_000);
    expect([massLoss("worker-1", true), massLoss("worker-2", true)]).toEqual([undefined, undefined]);
  });

  it.each([
    { clock: "forward", jumpMs: 14 * 366 * 86_400_000 },
    { clock: "back", jumpMs: -14 * 366 * 86_400_000 },
  ])("holds for a minute also if the clock is set $clock meanwhile", ({ jumpMs }) => {
    const { world, massLoss, pass } = setUp({ configured: 5, lost: 3 });
    massLoss("worker-1", true);
    world.jumpMs = jumpMs;
    pass(59_000);
    expect(massLoss("worker-1", true)).toMatchObject({ afterMs: 1_000 });
    pass(1_000);
    expect(massLoss("worker-1", true)).toBeUndefined();
  });

  it.each([
    { what: "two nodes, all of the cluster", census: { configured: 2, lost: 2 } },
    { what: "half of the nodes", census: { configured: 6, lost: 3 } },
  ])("holds nothing if the policies of $what are deleted", ({ census }) => {
    expect(setUp(census).massLoss("worker-1", true)).toBeUndefined();
  });

  it.each([
    { what: "two nodes", census: { configured: 2, lost: 2 } },
    { what: "two of five nodes", census: { configured: 5, lost: 2 } },
  ])("counts each of $what once, whose losses are seen in the same moment", ({ census }) => {
    const { massLoss } = setUp(census);
    expect([massLoss("worker-1", true), massLoss("worker-2", true)]).toEqual([undefined, undefined]);
  });

  it("counts again when more nodes have lost their policies than it has counted", () => {
    const { world, massLoss } = setUp({ configured: 4, lost: 1 });
    const held: string[] = [];
    for (let node = 1; node <= 4; node++) {
      if (massLoss(`worker-${node}`, true) !== undefined) held.push(`worker-${node}`);
      world.census = { configured: 4 - node, lost: 1 };
    }
    expect(held).toEqual(["worker-3", "worker-4"]);
  });

  it("resets the nodes at once if somebody confirms it with the time in the message, and holds the next loss", () => {
    const { world, massLoss, pass } = setUp({ configured: 3, lost: 3 });
    world.confirmed = "2026-11-20T11:00:00Z"; // of an earlier loss
    expect(massLoss("worker-1", true)).toBeDefined();
    world.confirmed = "2026-11-20T12:01:00Z";
    expect(massLoss("worker-1", true)).toBeUndefined();
    massLoss("worker-1", false);
    pass(90_000);
    expect(massLoss("worker-1", true)?.afterMs).toBe(60_000);
  });

  it("keeps holding a node whose policies are restored later than those of most others", () => {
    const { world, massLoss, pass } = setUp({ configured: 4, lost: 4 });
    for (const node of ["worker-1", "worker-2", "worker-3", "worker-4"]) massLoss(node, true);
    pass(1_000);
    for (const node of ["worker-1", "worker-2", "worker-3"]) massLoss(node, false);
    world.census = { configured: 4, lost: 1 };
    expect(massLoss("worker-4", true)?.afterMs).toBe(59_000);
  });

  it("releases all nodes of a loss, while those that are reset first have no spec any longer", () => {
    const { world, massLoss, pass } = setUp({ configured: 9, lost: 9 });
    for (const node of ["worker-1", "worker-2"]) massLoss(node, true);
    pass(60_000);
    world.census = { configured: 8, lost: 8 };
    expect(massLoss("worker-2", true)).toBeUndefined();
  });

  it("holds again if the policies are lost a second time, for a minute from then", () => {
    const { massLoss, pass } = setUp({ configured: 3, lost: 3 });
    massLoss("worker-1", true);
    massLoss("worker-1", false);
    pass(3_600_000);
    expect(massLoss("worker-1", true)?.afterMs).toBe(60_000);
  });

  it("counts once for all nodes that are reconciled together", () => {
    const { world, massLoss } = setUp({ configured: 900, lost: 400 });
    for (let node = 0; node < 400; node++) massLoss(`worker-${node}`, true);
    expect(world.counts).toBe(1);
  });

  it("holds the second half of nodes that lose their policies one after the other, as with their labels", () => {
    const { world, massLoss, pass } = setUp({ configured: 6, lost: 1 });
    const held: string[] = [];
    for (let node = 1; node <= 6; node++) {
      if (massLoss(`worker-${node}`, true) !== undefined) held.push(`worker-${node}`);
      pass(1_000);
      const reset = node - held.length; // these have nothing any longer, so they do not count as configured
      world.census = { configured: 6 - reset, lost: 1 + held.length };
    }
    expect(held).toEqual(["worker-4", "worker-5", "worker-6"]);
    expect(world.excepted).toEqual(["worker-1", "worker-2", "worker-3"]);
  });

  it("names the AfxdpOperatorConfig for AF_XDP", () => {
    const { massLoss } = setUp({ configured: 3, lost: 3 }, afxdpOperatorConfigs);
    expect(massLoss("worker-1", true)?.message).toContain("afxdpoperatorconfigs.afxdpnetwork.hns.dev default");
  });
});

describe("countLosses", () => {
  const labelled = (name: string, labels: Readonly<Record<string, string>>): Node => ({
    apiVersion: "v1",
    kind: "Node",
    metadata: { name, labels },
  });
  const nodes = new Map([
    ["a", labelled("a", { rack: "1" })],
    ["b", labelled("b", { rack: "2" })],
  ]);
  const node = (name: string) => nodes.get(name);

  it("counts the nodes that no policy selects, without those that have left the cluster", () => {
    const configured = ["a", "b", "gone"];
    expect(countLosses({ configured, selectors: [{ rack: "1" }], node })).toEqual({ configured: 2, lost: 1 });
    expect(countLosses({ configured, selectors: [], node })).toEqual({ configured: 2, lost: 2 });
    expect(countLosses({ configured, selectors: [{}], node })).toEqual({ configured: 2, lost: 0 });
    expect(countLosses({ configured, selectors: [], node, except: new Set(["a"]) })).toEqual({
      configured: 1,
      lost: 1,
    });
  });
});
