// SPDX-License-Identifier: Apache-2.0
/**
 * Makes things go wrong: counts the operator's writes of a step and does to those that are armed what their points say.
 * Renewals of the lease and events are no writes here: they change nothing that the product is about, and come when they
 * like. Renewals and reads have faults of their own.
 * Usage: `injector.begin([{ step, fault: "409", nth: 3 }]); …; injector.writes; injector.struck`.
 */
import { describeRequest, type ApiRequest } from "../src/api-request.ts";
import type { FaultRules, Fate, Refusal } from "../src/fault-rules.ts";
import { leaseFate, leaseFaults, type LeaseFault } from "./lease-faults.ts";
import { everything, isKill, type PairFault, type Point, type StaleFault, type WritePoint } from "./points.ts";
import { createReadFaults, readFaults, type ReadFault } from "./read-faults.ts";

export interface Injector {
  /** What the proxy of this replica asks; replicas are counted from 0. */
  rulesOf(replica: number): FaultRules;
  /** A new step, in which these go wrong. */
  begin(points: readonly Point[]): void;
  /** The writes of this step, as they came. */
  readonly writes: readonly WriteRecord[];
  /** Resources of which the operator was told a change in this step. */
  readonly told: ReadonlySet<string>;
  /** What of the armed has happened. */
  readonly struck: ReadonlySet<Point>;
  /** performance.now() of the operator's last request that is not about its lease or events. */
  readonly heardAtMs: number;
  /** Whether all watches that were ended go on. */
  readonly areReadsWhole: boolean;
  /** Watches that the replica began since it was started, or cut off: paths with their field selectors. */
  watchingOf(replica: number): ReadonlySet<string>;
  /** Lists are of this resourceVersion from here on, and watches stand still. */
  tellThePast(version: string): void;
  /** All is told as it is again. */
  tellAll(): void;
  /** The operator is about to be started anew. */
  beginAnew(): void;
}

export interface WriteRecord {
  readonly request: ApiRequest;
  readonly replica: number;
  readonly fault: WritePoint["fault"] | undefined;
  /** The cluster's newest resourceVersion before it. */
  readonly version: string;
  /** The server's answer; absent while there is none. */
  status?: number;
}

export interface Killers {
  /** At once: nothing more of it gets through. */
  readonly atOnce: (options: { readonly keepLease: boolean }) => void;
  /** What it still sends gets through until it is dead. */
  readonly soon: () => void;
  /** Nothing of this replica gets through; silently, it is not even told. */
  readonly partition: (replica: number, how: "cut" | "silent") => void;
}

const refusals: Readonly<Record<"409" | "429" | "500" | "500 for ever", Refusal>> = {
  "409": { status: 409, reason: "Conflict" },
  "429": { status: 429, reason: "TooManyRequests", retryAfterS: 1 },
  "500": { status: 500, reason: "InternalError" },
  "500 for ever": { status: 500, reason: "InternalError" },
};

/** More would cost the lease. */
const renewalsAtOnce = 3;

const undisturbed: Fate = { isCarriedOut: true, answer: "server's" };

/** "PATCH /api/v1/nodes/worker-1 by switchyard: 200 <- kill". */
export function describeWrite({ request, fault, status }: WriteRecord): string {
  const outcome = status === undefined ? "not carried out" : `${status}`;
  return `${describeRequest(request)}: ${outcome}${fault === undefined ? "" : ` <- ${fault}`}`;
}

export interface InjectorOptions {
  readonly kill: Killers;
  /** The cluster's newest resourceVersion. */
  readonly newestVersion: () => string;
  /** How long nothing can be done about a lease that is to be lost: 10 s after its last renewal it is. */
  readonly leaseLostMs: number;
}

export function createInjector({ kill, newestVersion, leaseLostMs }: InjectorOptions): Injector {
  let armed: readonly Point[] = [];
  let struck = new Set<Point>();
  let writes: WriteRecord[] = [];
  let told = new Set<string>();
  let heardAtMs = performance.now();
  let past: string | undefined;
  let isLate = false;
  /** Resolves when what is held may go on. */
  let live = Promise.withResolvers<undefined>();
  const watching = new Map<number, Set<string>>();
  /** A kill is under way: there cannot be another one. */
  let isDying = false;
  /** Of the write that is never to succeed. */
  let doomed: string | undefined;
  const reads = createReadFaults();
  /** Of this step, that went wrong. */
  let renewals = 0;
  /** By replica, performance.now() until which it can do nothing about the lease. */
  const leaseLostUntilMs = new Map<number, number>();
  const hasLostLease = (replica: number) => performance.now() < (leaseLostUntilMs.get(replica) ?? 0);

  function fateOfRenewal(replica: number): Fate {
    if (hasLostLease(replica)) return { isCarriedOut: false, answer: refusals["500"] };
    const point = armed.find((each) => isLeaseFault(each.fault));
    if (point === undefined || !isLeaseFault(point.fault) || renewals >= renewalsAtOnce) return undisturbed;
    renewals += 1;
    struck.add(point);
    return leaseFate(point.fault);
  }

  function fateOf(write: ApiRequest, replica: number): Fate {
    if (write.resource === "leases") return fateOfRenewal(replica);
    if (isBackground(write)) return undisturbed;
    const nth = writes.length + 1;
    const point = armed.filter((each) => "nth" in each).find((each) => each.nth <= nth && mayStrike(each));
    if (point?.fault === "500 for ever") doomed = write.path;
    const fault = doomed === write.path ? "500 for ever" : point?.fault;
    writes.push({ request: write, replica, fault, version: newestVersion() });
    if (point !== undefined) struck.add(point);
    if (fault !== undefined && isKill(fault)) {
      isDying = true;
      watching.clear();
    }
    switch (fault) {
      case undefined:
        return undisturbed;
      case "late from here":
        return {
          ...undisturbed,
          before: () => {
            isLate = true;
          },
        };
      case "lease lost":
        leaseLostUntilMs.set(replica, performance.now() + leaseLostMs);
        return { isCarriedOut: false, answer: "none" };
      case "partition":
      case "silent partition":
        return {
          ...{ isCarriedOut: true, answer: "none" },
          before: () => {
            watching.delete(replica);
            kill.partition(replica, fault === "partition" ? "cut" : "silent");
          },
        };
      case "kill, told the past":
        tellThePast(writes[Math.floor(nth / 2)]?.version ?? "");
        return fateBy("kill", kill);
      default:
        return fateBy(fault, kill);
    }
  }

  function tellThePast(version: string): void {
    past = version;
  }

  function mayStrike(point: WritePoint): boolean {
    return !struck.has(point) && !(isDying && isKill(point.fault));
  }

  function isHeld(resource: string): boolean {
    const point = armed.find((each) => each.fault === "held watch" && [resource, everything].includes(each.resource));
    if (point !== undefined) struck.add(point);
    return point !== undefined || past !== undefined || isLate;
  }

  return {
    rulesOf: (replica) => ({
      fateOf: (write) => fateOf(write, replica),
      answered(write, status) {
        const record = writes.find(({ request }) => request === write);
        if (record !== undefined) record.status = status;
      },
      heard(request) {
        if (isBackground(request)) return;
        heardAtMs = performance.now();
        if (request.verb !== "watch") return;
        const its = watching.get(replica) ?? new Set();
        watching.set(replica, its.add(`${request.path} ${request.fieldSelector}`));
      },
      fateOfRead(read) {
        if (read.resource === "leases" && hasLostLease(replica)) return { refusal: refusals["500"] };
        return { past: read.verb === "list" ? past : undefined, ...reads.fateOf(read) };
      },
      async whenLive(watch) {
        told.add(watch.resource);
        while (isHeld(watch.resource)) await live.promise;
        const end = reads.endOf(watch);
        const point = armed.find((each) => "resource" in each && each.resource === watch.resource);
        if (end !== undefined && point !== undefined) struck.add(point);
        return end;
      },
    }),
    begin(points) {
      armed = points;
      struck = new Set();
      writes = [];
      told = new Set();
      renewals = 0;
      reads.disarm();
      for (const point of points) if (isReadFault(point)) reads.arm(point.resource, point.fault);
    },
    get writes() {
      return writes;
    },
    get told() {
      return told;
    },
    get struck() {
      return struck;
    },
    get heardAtMs() {
      return heardAtMs;
    },
    get areReadsWhole() {
      return reads.isOver;
    },
    watchingOf: (replica) => watching.get(replica) ?? new Set(),
    tellThePast,
    tellAll() {
      past = undefined;
      isLate = false;
      armed = [];
      live.resolve(undefined);
      live = Promise.withResolvers();
    },
    beginAnew() {
      isDying = false;
      watching.clear();
    },
  };
}

function fateBy(fault: Exclude<WritePoint["fault"], StaleFault | PairFault | "lease lost">, kill: Killers): Fate {
  switch (fault) {
    case "kill":
    case "kill, lease kept": {
      const keepLease = fault === "kill, lease kept";
      return {
        isCarriedOut: true,
        answer: "reset",
        before: () => {
          kill.atOnce({ keepLease });
        },
      };
    }
    case "kill once answered":
      return { isCarriedOut: true, answer: "server's", after: kill.soon };
    case "409":
    case "429":
    case "500":
    case "500 for ever":
      return { isCarriedOut: false, answer: refusals[fault] };
    case "slow":
      return { delayMs: 2_000, isCarriedOut: true, answer: "server's" };
    case "reset before":
      return { isCarriedOut: false, answer: "reset" };
    case "reset after":
      return { isCarriedOut: true, answer: "reset" };
  }
}

function isLeaseFault(fault: Point["fault"]): fault is LeaseFault {
  return leaseFaults.some((each) => each === fault);
}

function isReadFault(point: Point): point is Extract<Point, { readonly fault: ReadFault }> {
  return readFaults.some((each) => each === point.fault);
}

function isBackground({ resource }: ApiRequest): boolean {
  return resource === "leases" || resource === "events";
}
