// SPDX-License-Identifier: Apache-2.0
/**
 * Point says where a fault occurs in a scenario, and which. Each step of a scenario ends in the expected state, so a
 * fault in one step does not affect the next, and one run can have points in all steps.
 */
import { leaseFaults, readFaults, type LeaseFault, type ReadFault } from "./faults.ts";

/** Faults of a write: the operator is killed, or the write is refused or lost. */
export const writeFaults = [
  "kill",
  "kill once answered",
  "409",
  "429",
  "500",
  "reset before",
  "reset after",
  "slow",
] as const;

export type WriteFault = (typeof writeFaults)[number];

/**
 * From a write on, the operator's caches are stale: all events are late, or the operator is killed and the new one
 * reads the state before this write first.
 */
export const staleFaults = ["late from here", "kill, then stale reads"] as const;

export type StaleFault = (typeof staleFaults)[number];

/** From a write on, a replica is cut off, and another one must take over. */
export const pairFaults = ["partition", "silent partition"] as const;

export type PairFault = (typeof pairFaults)[number];

/** One fault in one step. */
export type Point = WritePoint | WatchPoint | ReadPoint | LeasePoint | RestartPoint;

/**
 * A fault at the operator's `nth` write of the step, from 1. A kill while another one is in progress applies to a later
 * write.
 */
export interface WritePoint {
  readonly step: string;
  readonly fault:
    | WriteFault
    | StaleFault
    | PairFault
    /**
     * The lease is kept, so the next leader must wait until it expires, as after a real crash. For other kills it is
     * deleted.
     */
    | "kill, lease kept"
    /** The write gets no answer, and renewals fail until the lease is lost. */
    | "lease lost"
    /** The operator cannot recover from this fault. For tests of the fault tests. */
    | "500 for ever";
  readonly nth: number;
}

/** Events of this resource are late. */
export interface WatchPoint {
  readonly step: string;
  readonly fault: "held watch";
  /** A resource, or `everything` for all of them. */
  readonly resource: string;
}

export const everything = "all resources";

/** At the next event of this resource, the watch ends, and the following reads of the resource fail. */
export interface ReadPoint {
  readonly step: string;
  readonly fault: ReadFault;
  readonly resource: string;
}

/** A fault of the first renewals of the lease in this step. */
export interface LeasePoint {
  readonly step: string;
  readonly fault: LeaseFault;
}

/** The operator is killed after the step. The new one reads a past state first, or has nothing to do. */
export interface RestartPoint {
  readonly step: string;
  readonly fault: "past at start" | "restart at rest";
}

/** Results of a step without faults. */
export interface FaultFreeStep {
  readonly step: string;
  /** Number of the operator's writes. */
  readonly writeCount: number;
  /** Resources for which the operator received a watch event. */
  readonly notifiedResources: readonly string[];
}

/**
 * Returns all points. Each write has each fault. Each watch with events is held, and has each read fault. Each step has
 * each fault of renewals, and both restarts after the step.
 */
export function allPoints(steps: readonly FaultFreeStep[]): readonly Point[] {
  const faults = [...writeFaults, ...staleFaults];
  const points = steps.flatMap(({ step, writeCount, notifiedResources }): Point[] => [
    ...faults.flatMap((fault) => Array.from({ length: writeCount }, (_, at) => ({ step, fault, nth: at + 1 }))),
    ...heldOf(notifiedResources).map((resource) => ({ step, fault: "held watch" as const, resource })),
    ...readFaults.flatMap((fault) => notifiedResources.map((resource) => ({ step, fault, resource }))),
    ...leaseFaults.map((fault) => ({ step, fault })),
    { step, fault: "past at start" },
    { step, fault: "restart at rest" },
  ]);
  return [...points, ...leaseEnds(steps)];
}

/**
 * Returns a sample of all points that takes some minutes. Each write has one of the kills and one of the refusals. Each
 * step has one held watch, one read fault for each watch, one fault of renewals, one of the restarts, and each stale
 * fault at one write. The faults take turns.
 */
export function samplePoints(steps: readonly FaultFreeStep[]): readonly Point[] {
  let turn = 0;
  const next = <T>(list: readonly T[]): readonly T[] => list.slice(turn % list.length, (turn % list.length) + 1);
  const points = steps.flatMap(({ step, writeCount, notifiedResources }): Point[] => {
    const ofStep: Point[] = [];
    for (let nth = 1; nth <= writeCount; nth++) {
      turn += 1;
      for (const fault of [...next(kills), ...next(refusals)]) ofStep.push({ step, fault, nth });
    }
    turn += 1;
    for (const resource of next(heldOf(notifiedResources))) ofStep.push({ step, fault: "held watch", resource });
    for (const resource of notifiedResources) {
      turn += 1;
      for (const fault of next(readFaults)) ofStep.push({ step, fault, resource });
    }
    for (const fault of next(leaseFaults)) ofStep.push({ step, fault });
    for (const fault of next(["past at start", "restart at rest"] as const)) ofStep.push({ step, fault });
    for (const [at, fault] of staleFaults.entries()) {
      if (writeCount > 0) ofStep.push({ step, fault, nth: 1 + ((turn * (at + 2)) % writeCount) });
    }
    return ofStep;
  });
  return [...points, ...leaseEnds(steps)];
}

/**
 * Returns points for two replicas. In each step with writes, the leader is cut off at one of its writes, or loses only
 * its lease. Each point takes about 15 s, so a run has every second step only.
 */
export function planPairScenarios(steps: readonly FaultFreeStep[]): readonly (readonly Point[])[] {
  const faults = [...pairFaults, "lease lost"] as const;
  const points = steps
    .filter(({ writeCount }) => writeCount > 0)
    .map(({ step, writeCount }, at): Point => {
      const fault = faults[at % faults.length] ?? "partition";
      return { step, fault, nth: 1 + ((at * 2) % writeCount) };
    });
  return [0, 1].map((odd) => points.filter((_, at) => at % 2 === odd));
}

/** Returns each resource, and `everything` if there are several. */
function heldOf(notified: readonly string[]): readonly string[] {
  return notified.length < 2 ? notified : [...notified, everything];
}

const kills = writeFaults.filter(isKill);
const refusals = writeFaults.filter((fault) => !isKill(fault));

/** Returns one point per fault that ends a lease (about 15 s each), in the middle of the step with the most writes. */
function leaseEnds(steps: readonly FaultFreeStep[]): readonly Point[] {
  const [busiest] = steps.toSorted((a, b) => b.writeCount - a.writeCount);
  if (busiest === undefined || busiest.writeCount === 0) return [];
  const at = { step: busiest.step, nth: Math.ceil(busiest.writeCount / 2) };
  return [
    { ...at, fault: "kill, lease kept" },
    { ...at, fault: "lease lost" },
  ];
}

/**
 * Distributes the points over as few runs as possible. One run has faults at several writes of a step: a killed
 * operator has no memory of the last kill, and the operator retries a refused write.
 */
export function planScenarios(points: readonly Point[]): readonly (readonly Point[])[] {
  const scenarios: Point[][] = [];
  for (const ofStep of Map.groupBy(points, ({ step }) => step).values()) {
    for (const [at, batch] of batchesOf(ofStep).entries()) (scenarios[at] ??= []).push(...batch);
  }
  return scenarios;
}

const killsAtOnce = 4;
const refusalsAtOnce = 6;

/** Returns batches of points that can occur in the same run of a step. */
function batchesOf(points: readonly Point[]): readonly (readonly Point[])[] {
  const isOf = (faults: readonly WriteFault[]) => {
    return (point: Point): point is WritePoint => faults.some((fault) => fault === point.fault);
  };
  return [
    ...spread(points.filter(isOf(kills)), killsAtOnce),
    ...spread(points.filter(isOf(refusals)), refusalsAtOnce),
    ...readsAtOnce(points.filter(isRead)),
    ...points.filter((point) => !isOf(writeFaults)(point) && !isRead(point)).map((point) => [point]),
  ];
}

/** Returns batches with at most one point per resource. Faults of different resources do not affect each other. */
function readsAtOnce(points: readonly ReadPoint[]): readonly (readonly ReadPoint[])[] {
  const byResource = [...Map.groupBy(points, ({ resource }) => resource).values()];
  const rounds = Math.max(0, ...byResource.map(({ length }) => length));
  return Array.from({ length: rounds }, (_, round) => byResource.flatMap((all) => all.slice(round, round + 1)));
}

function isRead(point: Point): point is ReadPoint {
  return readFaults.some((fault) => fault === point.fault);
}

/**
 * Returns batches of at most `size` points, with each write at most once per batch and the writes of a batch far apart.
 */
function spread(points: readonly WritePoint[], size: number): readonly (readonly WritePoint[])[] {
  const byFault = [...Map.groupBy(points, ({ nth }) => nth).values()];
  const rounds = Math.max(0, ...byFault.map((ofNth) => ofNth.length));
  return Array.from({ length: rounds }, (_, round) => {
    const one = byFault.flatMap((ofNth) => ofNth.slice(round, round + 1));
    const count = Math.ceil(one.length / size);
    return Array.from({ length: count }, (__, at) => one.filter((___, index) => index % count === at));
  }).flat();
}

export function isKill(fault: Point["fault"]): boolean {
  return fault.startsWith("kill");
}

function isStale(fault: Point["fault"]): boolean {
  return fault === "held watch" || fault === "past at start" || staleFaults.some((stale) => stale === fault);
}

/** Returns "kill at write 3 in "a policy is created"". */
export function describePoint(point: Point): string {
  const where = `in "${point.step}"`;
  switch (point.fault) {
    case "renewal refused":
    case "renewal slow":
    case "renewal unanswered":
    case "renewal in conflict":
      return `${point.fault} ${where}`;
    case "held watch":
      return `events of ${point.resource} come late ${where}`;
    case "past at start":
      return `killed after "${point.step}", and given stale reads first`;
    case "restart at rest":
      return `killed after "${point.step}"`;
    default:
      if ("resource" in point) return `${point.fault} ${point.resource} ${where}`;
      return `${point.fault} at write ${point.nth} ${where}`;
  }
}

/** Returns "264 injection points: 60 kills, 120 refusals, 32 stale, 40 reads, 12 leases, 0 partitions". */
export function countPoints(points: readonly Point[]): string {
  const count = (is: (point: Point) => boolean) => points.filter(is).length;
  const stale = count(({ fault }) => isStale(fault));
  const reads = count(isRead);
  const cut = count(({ fault }) => pairFaults.some((each) => each === fault));
  const leases = count(({ fault }) => fault === "lease lost" || leaseFaults.some((each) => each === fault));
  const killed = count(({ fault }) => !isStale(fault) && (isKill(fault) || fault === "restart at rest"));
  const refused = points.length - killed - stale - reads - leases - cut;
  return `${points.length} injection points: ${killed} kills, ${refused} refusals, ${stale} stale, ${reads} reads, ${leases} leases, ${cut} partitions`;
}
