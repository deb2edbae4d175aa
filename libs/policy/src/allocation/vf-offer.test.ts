// SPDX-License-Identifier: Apache-2.0
/** The rule alone, and two processes that follow it on a model of API server, kubelet and scheduler, in any order, with kills. */
import { describe, expect, it } from "@jest/globals";
import fc from "fast-check";
import { allocationOf, decideOffer, mayBegin, mayHandOver, type Allocator, type NodeAllocation } from "./vf-offer.ts";

describe("decideOffer", () => {
  const free = { isOffered: false, isOfferedByOther: false, holder: "free" } as const;
  const stays = { wanted: "dra", offeredBy: "dra" } as const;
  const leaves = { wanted: "devicePlugin", offeredBy: "dra" } as const;
  it.each([
    { does: "offers a free VF", allocation: stays, observed: free, problem: undefined },
    {
      does: "waits for the other one",
      allocation: stays,
      observed: { ...free, isOfferedByOther: true },
      problem: "offered",
    },
    {
      does: "waits for a pod of the other one",
      allocation: stays,
      observed: { ...free, holder: "other" },
      problem: "held",
    },
    {
      does: "adds nothing that it does not know",
      allocation: stays,
      observed: { ...free, holder: "unknown" },
      problem: "unknown",
    },
    {
      does: "keeps what it offers when it does not know",
      allocation: stays,
      observed: { isOffered: true, isOfferedByOther: undefined, holder: "unknown" },
      problem: undefined,
    },
    { does: "withdraws free VFs", allocation: leaves, observed: { ...free, isOffered: true }, problem: "moved" },
    {
      does: "keeps VFs in use",
      allocation: leaves,
      observed: { ...free, isOffered: true, holder: "own" },
      problem: undefined,
    },
    {
      does: "does not offer again what it has withdrawn",
      allocation: leaves,
      observed: { ...free, holder: "own" },
      problem: "moved",
    },
  ] as const)("$does", ({ allocation, observed, problem }) => {
    expect(decideOffer("dra", allocation, observed)).toBe(problem);
  });

  it("is about the device plugin on nodes of older releases", () => {
    expect(allocationOf({})).toEqual({ wanted: "devicePlugin", offeredBy: "devicePlugin" });
  });
});

const vfs = ["a", "b", "c"] as const;
type Vf = (typeof vfs)[number];

/** A node, its objects in the API server, and what others have seen of them. */
interface World {
  allocation: NodeAllocation;
  /** The file of the device plugin, which it reads when it starts. */
  file: ReadonlySet<Vf>;
  /** What the plugin has registered at the kubelet. */
  registered: ReadonlySet<Vf>;
  slices: ReadonlySet<Vf>;
  /** What the scheduler has seen of the slices. */
  seenSlices: ReadonlySet<Vf>;
  /** Allocated claims; true once the VF is prepared for a pod. */
  claims: ReadonlyMap<Vf, boolean>;
  pluginPods: ReadonlySet<Vf>;
  kubeletAnswers: boolean;
}

/** One pass of a process is a sequence of single reads and writes; a kill ends it anywhere. */
type Pass = Generator<undefined, void, undefined>;

/** Returns the VFs to offer from facts that are read one after the other. */
function* decideAll(self: Allocator, world: World, own: () => ReadonlySet<Vf>, other: () => ReadonlySet<Vf>) {
  const allocation = world.allocation;
  yield undefined;
  const [before, byOther] = [own(), other()];
  yield undefined;
  const answers = world.kubeletAnswers;
  const [pods, claims] = [world.pluginPods, world.claims];
  yield undefined;
  const ofPlugin = self === "devicePlugin" ? "own" : "other";
  const ofClaim = self === "dra" ? "own" : "other";
  const offers = vfs.filter((vf) => {
    // Claims are read from the API server, pods from the kubelet.
    const isPrepared = claims.get(vf) === true;
    const known = pods.has(vf) ? ofPlugin : isPrepared ? ofClaim : "free";
    const isClaimed = self === "dra" && claims.has(vf);
    const holder = isClaimed ? "own" : answers ? known : "unknown";
    const observed = { isOffered: before.has(vf), isOfferedByOther: byOther.has(vf), holder } as const;
    return decideOffer(self, allocation, observed) === undefined;
  });
  return { allocation, offers: new Set(offers) };
}

/** As device-plugin-config: the plugin restarts before the right is passed on. */
function* pluginPass(world: World): Pass {
  const { allocation, offers } = yield* decideAll(
    "devicePlugin",
    world,
    () => world.file,
    () => world.slices,
  );
  world.file = offers;
  yield undefined;
  world.registered = world.file;
  yield undefined;
  if (mayHandOver("devicePlugin", allocation)) world.allocation = { ...world.allocation, offeredBy: "dra" };
}

function* driverPass(world: World): Pass {
  const { allocation, offers } = yield* decideAll(
    "dra",
    world,
    () => world.slices,
    () => world.registered,
  );
  world.slices = offers;
  yield undefined;
  if (mayHandOver("dra", allocation)) world.allocation = { ...world.allocation, offeredBy: "devicePlugin" };
}

const actions = [
  "plugin",
  "driver",
  "kill-plugin",
  "kill-driver",
  "flip",
  "restart-plugin",
  "pod",
  "pod-ends",
] as const;
const others = ["scheduler-sees", "allocate", "prepare", "claim-ends", "kubelet", "kubelet-back"] as const;
type Action = (typeof actions)[number] | (typeof others)[number];

function perform(
  world: World,
  action: Exclude<Action, "plugin" | "driver" | "kill-plugin" | "kill-driver">,
  vf: Vf,
): void {
  const without = <Value>(set: ReadonlySet<Value>, value: Value) => new Set([...set].filter((one) => one !== value));
  switch (action) {
    case "flip":
      world.allocation = { ...world.allocation, wanted: world.allocation.wanted === "dra" ? "devicePlugin" : "dra" };
      return;
    case "restart-plugin":
      world.registered = world.file;
      return;
    case "pod":
      if (world.registered.has(vf) && !world.pluginPods.has(vf)) world.pluginPods = new Set([...world.pluginPods, vf]);
      return;
    case "pod-ends":
      world.pluginPods = without(world.pluginPods, vf);
      return;
    case "scheduler-sees":
      world.seenSlices = world.slices;
      return;
    case "allocate":
      if (world.seenSlices.has(vf) && !world.claims.has(vf)) world.claims = new Map([...world.claims, [vf, false]]);
      return;
    case "prepare":
      // The driver prepares a VF only while it offers it.
      if (world.claims.has(vf) && world.slices.has(vf)) world.claims = new Map([...world.claims, [vf, true]]);
      return;
    case "claim-ends":
      world.claims = new Map([...world.claims].filter(([one]) => one !== vf));
      return;
    case "kubelet":
    case "kubelet-back":
      world.kubeletAnswers = action === "kubelet-back";
  }
}

describe("two processes that follow the rule", () => {
  const passes = Array.from({ length: 64 }, (_, index): Action => (index % 2 === 0 ? "plugin" : "driver"));
  const step = fc.tuple(fc.constantFrom<Action>(...actions, ...others, ...passes), fc.constantFrom(...vfs));

  it("never offer a VF both, and never give it to two holders, in any order and with kills", () => {
    let moves = 0;
    fc.assert(
      fc.property(fc.array(step, { minLength: 300, maxLength: 500 }), (steps) => {
        const world = newWorld();
        let plugin = pluginPass(world);
        let driver = driverPass(world);
        let isMoved = false;
        for (const [action, vf] of steps) {
          if (action === "plugin") {
            if (plugin.next().done) plugin = pluginPass(world);
          } else if (action === "driver") {
            if (driver.next().done) driver = driverPass(world);
          } else if (action === "kill-plugin") plugin = pluginPass(world);
          else if (action === "kill-driver") driver = driverPass(world);
          else perform(world, action, vf);
          if (isMoved !== world.slices.size > 0) moves++;
          isMoved = world.slices.size > 0;
          const both = vfs.filter((one) => world.slices.has(one) && (world.registered.has(one) || world.file.has(one)));
          const two = vfs.filter((one) => world.pluginPods.has(one) && world.claims.get(one) === true);
          if (both.length + two.length > 0)
            throw new Error(`after ${action}: both offer ${both.join()}, two hold ${two.join()}`);
        }
      }),
      { numRuns: 2_000 },
    );
    expect(moves).toBeGreaterThan(300);
  });

  it("reach the wanted state when pods and claims have ended", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 100 }), (steps) => {
        const world = newWorld();
        for (const [action, vf] of steps) {
          if (action === "plugin") for (const _ of pluginPass(world));
          else if (action === "driver") for (const _ of driverPass(world));
          else if (action !== "kill-plugin" && action !== "kill-driver") perform(world, action, vf);
        }
        Object.assign(world, { pluginPods: new Set(), claims: new Map(), kubeletAnswers: true });
        for (let round = 0; round < 3; round++) {
          for (const _ of pluginPass(world));
          for (const _ of driverPass(world));
        }
        const { wanted } = world.allocation;
        expect(mayBegin(wanted, world.allocation)).toBe(true);
        expect([...world.registered].sort()).toEqual(wanted === "devicePlugin" ? vfs : []);
        expect([...world.slices].sort()).toEqual(wanted === "dra" ? vfs : []);
      }),
      { numRuns: 200 },
    );
  });
});

function newWorld(): World {
  return {
    allocation: { wanted: "devicePlugin", offeredBy: "devicePlugin" },
    file: new Set(vfs),
    registered: new Set(vfs),
    slices: new Set(),
    seenSlices: new Set(),
    claims: new Map(),
    pluginPods: new Set(),
    kubeletAnswers: true,
  };
}
