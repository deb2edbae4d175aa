// SPDX-License-Identifier: Apache-2.0
/**
 * createFaults lets tests inject faults into calls of the ports.
 * Usage: `faults.add({ port: "sriov", method: "setNumVfs", nth: 2 }, { code: "EIO" })`.
 */
import { isWrite, type PortCall } from "../calls/wrap-ports.ts";
import type { Host } from "../ports/host.ts";

/** Selects the calls that a fault affects. */
export interface FaultMatch {
  readonly port: keyof Host;
  /** Absent: all methods of the port. "writes": all methods that change the host. */
  readonly method?: string;
  /** First argument of the call: a PCI address or the name of an interface. Absent: any. */
  readonly target?: string;
  /** Only the nth matching call from now on; 1 is the next call. Absent: each call. */
  readonly nth?: number;
}

/** The effects on the call, in this order. */
export interface FaultEffect {
  /** Delays the call. */
  readonly delayMs?: number;
  /** The call hangs until this resolves. A write to a PCI device holds its lock, so reads of the device hang, too. */
  readonly until?: Promise<unknown>;
  /** Called during the call, for example to unplug a device or to kill the daemon. */
  readonly act?: () => void;
  /** The call fails with this errno. It has no effect unless `late` is set. */
  readonly code?: string;
  /** Explanation of the kernel. */
  readonly words?: string;
  /** The call has its effect and fails afterwards. */
  readonly late?: boolean;
}

/** A fault that was added. */
export interface Fault {
  /** Number of calls that it affected. */
  readonly hits: number;
  /** Removes the fault. */
  lift(): void;
}

export interface Faults {
  add(match: FaultMatch, effect: FaultEffect): Fault;
  /** Returns the effects on this call, and counts the call. */
  take(call: PortCall): readonly FaultEffect[];
}

export function createFaults(): Faults {
  const active = new Set<Active>();

  return {
    add(match, effect) {
      const fault: Active = { match, effect, matched: 0, hits: 0 };
      active.add(fault);
      return {
        get hits() {
          return fault.hits;
        },
        lift: () => {
          active.delete(fault);
        },
      };
    },
    take: (call) =>
      [...active]
        .filter(({ match }) => isHit(match, call))
        .filter((fault) => ++fault.matched === (fault.match.nth ?? fault.matched))
        .map((fault) => {
          fault.hits++;
          return fault.effect;
        }),
  };
}

function isHit({ port, method, target }: FaultMatch, call: PortCall): boolean {
  const isMethod = method === undefined || method === call.method || (method === "writes" && isWrite(call));
  return port === call.port && isMethod && (target === undefined || target === call.args[0]);
}

interface Active {
  readonly match: FaultMatch;
  readonly effect: FaultEffect;
  matched: number;
  hits: number;
}

/**
 * Refusal is the error inside the fake kernel. fake-host.ts converts it to a HostError that names the operation.
 * The name of the errno, and an explanation of the kernel, if any.
 */
export class Refusal extends Error {
  override readonly name = "Refusal";
  readonly code: string;
  readonly words: string | undefined;

  constructor(code: string, words?: string) {
    super(code);
    this.code = code;
    this.words = words;
  }
}

/** Runs `act` and returns its result as the promise of a port. */
export function answer<Value>(act: () => Value): Promise<Value> {
  return new Promise((resolve) => {
    resolve(act());
  });
}
