// SPDX-License-Identifier: Apache-2.0
/**
 * createInjector decides which requests of the operator get a fault. It counts the operator's writes in a step, and
 * injects the faults of the step's points. Renewals of the lease and events do not count as writes, because they do not
 * change the result and their times vary. Renewals and reads have their own faults.
 */
import { describeRequest, type ApiRequest } from "../src/api/api-request.ts";
import type { FaultRules, WriteOutcome, Refusal } from "../src/api/fault-rules.ts";
import { createReadFaults, leaseOutcome, leaseFaults, readFaults, type LeaseFault, type ReadFault } from "./faults.ts";
import { everything, isKill, type PairFault, type Point, type StaleFault, type WritePoint } from "./points.ts";

export interface Injector {
  /** Returns the rules for the proxy of this replica; replicas are counted from 0. */
  rulesOf(replica: number): FaultRules;
  /** Starts a step with these points. */
  begin(points: readonly Point[]): void;
  /** The writes of this step, in order. */
  readonly writes: readonly WriteRecord[];
  /** Resources for which the operator received a watch event in this step. */
  readonly notifiedResources: ReadonlySet<string>;
  /** The points of this step whose fault has occurred. */
  readonly applied: ReadonlySet<Point>;
  /** performance.now() of the operator's last request, except those for its lease and for events. */
  readonly lastRequestAtMs: number;
  /** Whether the operator has repeated all watches that a fault ended. */
  readonly areReadsWhole: boolean;
  /** Returns the watches that the replica opened since it was started or cut off: paths with their field selectors. */
  watchingOf(replica: number): ReadonlySet<string>;
  /** From now on, lists return the objects at this resourceVersion, and watches deliver no events. */
  serveStaleReads(version: string): void;
  /** Ends all stale reads. */
  endStaleReads(): void;
  /** Call this before the operator is restarted. */
  resetForRestart(): void;
}

export interface WriteRecord {
  readonly request: ApiRequest;
  readonly replica: number;
  readonly fault: WritePoint["fault"] | undefined;
  /** The cluster's newest resourceVersion before the write. */
  readonly version: string;
  /** The status of the server's response; absent until the response arrives. */
  status?: number;
}

export interface KillOptions {
  /** Kills the operator; no further request reaches the API server. */
  readonly atOnce: (options: { readonly keepLease: boolean }) => void;
  /** Kills the operator; requests that it sends before its end reach the API server. */
  readonly soon: () => void;
  /** Cuts a replica off. "cut" closes its connections; "silent" keeps them open without traffic. */
  readonly partition: (replica: number, how: "cut" | "silent") => void;
}

const refusals: Readonly<Record<"409" | "429" | "500" | "500 for ever", Refusal>> = {
  "409": { status: 409, reason: "Conflict" },
  "429": { status: 429, reason: "TooManyRequests", retryAfterS: 1 },
  "500": { status: 500, reason: "InternalError" },
  "500 for ever": { status: 500, reason: "InternalError" },
};

/** With more failed renewals, the lease would be lost. */
const renewalsAtOnce = 3;

const forwarded: WriteOutcome = { isCarriedOut: true, answer: "server's" };

/** "PATCH /api/v1/nodes/worker-1 by switchyard: 200 <- kill". */
export function describeWrite({ request, fault, status }: WriteRecord): string {
  const outcome = status === undefined ? "not carried out" : `${status}`;
  return `${describeRequest(request)}: ${outcome}${fault === undefined ? "" : ` <- ${fault}`}`;
}

export interface InjectorOptions {
  readonly kill: KillOptions;
  /** Returns the cluster's newest resourceVersion. */
  readonly newestVersion: () => string;
  /** How long no request for a lost lease succeeds. A lease is lost 10 s after its last renewal. */
  readonly leaseLostMs: number;
}

export function createInjector({ kill, newestVersion, leaseLostMs }: InjectorOptions): Injector {
  let armed: readonly Point[] = [];
  let applied = new Set<Point>();
  let writes: WriteRecord[] = [];
  let notified = new Set<string>();
  let lastRequestAtMs = performance.now();
  let past: string | undefined;
  let isLate = false;
  /** Resolves when held events may continue. */
  let live = Promise.withResolvers<undefined>();
  const watching = new Map<number, Set<string>>();
  /** Whether a kill is in progress. There is only one at a time. */
  let isDying = false;
  /** Path of the object whose writes never succeed ("500 for ever"). */
  let alwaysFailing: string | undefined;
  const reads = createReadFaults();
  /** Number of failed renewals in this step. */
  let renewals = 0;
  /** By replica, performance.now() until which no request for the lease succeeds. */
  const leaseLostUntilMs = new Map<number, number>();
  const hasLostLease = (replica: number) => performance.now() < (leaseLostUntilMs.get(replica) ?? 0);

  function outcomeOfRenewal(replica: number): WriteOutcome {
    if (hasLostLease(replica)) return { isCarriedOut: false, answer: refusals["500"] };
    const point = armed.find((each) => isLeaseFault(each.fault));
    if (point === undefined || !isLeaseFault(point.fault) || renewals >= renewalsAtOnce) return forwarded;
    renewals += 1;
    applied.add(point);
    return leaseOutcome(point.fault);
  }

  function outcomeOf(write: ApiRequest, replica: number): WriteOutcome {
    if (write.resource === "leases") return outcomeOfRenewal(replica);
    if (isBackground(write)) return forwarded;
    const nth = writes.length + 1;
    const point = armed.filter((each) => "nth" in each).find((each) => each.nth <= nth && mayStrike(each));
    if (point?.fault === "500 for ever") alwaysFailing = write.path;
    const fault = alwaysFailing === write.path ? "500 for ever" : point?.fault;
    writes.push({ request: write, replica, fault, version: newestVersion() });
    if (point !== undefined) applied.add(point);
    if (fault !== undefined && isKill(fault)) {
      isDying = true;
      watching.clear();
    }
    switch (fault) {
      case undefined:
        return forwarded;
      case "late from here":
        return {
          ...forwarded,
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
          isCarriedOut: true,
          answer: "none",
          before: () => {
            watching.delete(replica);
            kill.partition(replica, fault === "partition" ? "cut" : "silent");
          },
        };
      case "kill, then stale reads":
        serveStaleReads(writes[Math.floor(nth / 2)]?.version ?? "");
        return outcomeBy("kill", kill);
      default:
        return outcomeBy(fault, kill);
    }
  }

  function serveStaleReads(version: string): void {
    past = version;
  }

  function mayStrike(point: WritePoint): boolean {
    return !applied.has(point) && !(isDying && isKill(point.fault));
  }

  function isHeld(resource: string): boolean {
    const point = armed.find((each) => each.fault === "held watch" && [resource, everything].includes(each.resource));
    if (point !== undefined) applied.add(point);
    return point !== undefined || past !== undefined || isLate;
  }

  return {
    rulesOf: (replica) => ({
      outcomeOf: (write) => outcomeOf(write, replica),
      answered(write, status) {
        const record = writes.find(({ request }) => request === write);
        if (record !== undefined) record.status = status;
      },
      heard(request) {
        if (isBackground(request)) return;
        lastRequestAtMs = performance.now();
        if (request.verb !== "watch") return;
        const its = watching.get(replica) ?? new Set();
        watching.set(replica, its.add(`${request.path} ${request.fieldSelector}`));
      },
      outcomeOfRead(read) {
        if (read.resource === "leases" && hasLostLease(replica)) return { refusal: refusals["500"] };
        return { past: read.verb === "list" ? past : undefined, ...reads.outcomeOf(read) };
      },
      async whenLive(watch) {
        notified.add(watch.resource);
        while (isHeld(watch.resource)) await live.promise;
        const end = reads.endOf(watch);
        const point = armed.find((each) => "resource" in each && each.resource === watch.resource);
        if (end !== undefined && point !== undefined) applied.add(point);
        return end;
      },
    }),
    begin(points) {
      armed = points;
      applied = new Set();
      writes = [];
      notified = new Set();
      renewals = 0;
      reads.disarm();
      for (const point of points) if (isReadFault(point)) reads.arm(point.resource, point.fault);
    },
    get writes() {
      return writes;
    },
    get notifiedResources() {
      return notified;
    },
    get applied() {
      return applied;
    },
    get lastRequestAtMs() {
      return lastRequestAtMs;
    },
    get areReadsWhole() {
      return reads.isOver;
    },
    watchingOf: (replica) => watching.get(replica) ?? new Set(),
    serveStaleReads,
    endStaleReads() {
      past = undefined;
      isLate = false;
      armed = [];
      live.resolve(undefined);
      live = Promise.withResolvers();
    },
    resetForRestart() {
      isDying = false;
      watching.clear();
    },
  };
}

function outcomeBy(
  fault: Exclude<WritePoint["fault"], StaleFault | PairFault | "lease lost">,
  kill: KillOptions,
): WriteOutcome {
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
