// SPDX-License-Identifier: Apache-2.0
/**
 * Faults on command: what goes wrong at which call of which port.
 * Usage: `faults.add({ port: "sriov", method: "setNumVfs", nth: 2 }, { code: "EIO" })`.
 */
import type { Host } from "../ports/host.ts";
import { isWrite, type PortCall } from "../calls/wrap-ports.ts";

/** Which calls a fault hits. */
export interface FaultMatch {
  readonly port: keyof Host;
  /** Any method of the port where absent; "writes" are all that change something. */
  readonly method?: string;
  /** First argument of the call: a PCI address or an interface's name. Any where absent. */
  readonly target?: string;
  /** Only the nth matching call from now on, 1 being the next; each where absent. */
  readonly nth?: number;
}

/** What happens then, in this order. */
export interface FaultEffect {
  /** The call takes so much longer. */
  readonly delayMs?: number;
  /** The call hangs until this resolves. One that writes to a PCI device holds its lock: reads of it hang with it. */
  readonly until?: Promise<unknown>;
  /** Something else happens while the call is on its way: a cable is pulled, the daemon is killed. */
  readonly act?: () => void;
  /** The call fails with this errno. It then has no effect, unless `late`. */
  readonly code?: string;
  /** The kernel's words for it. */
  readonly words?: string;
  /** The call does what it shall, and fails nevertheless. */
  readonly late?: boolean;
}

/** A fault that was set. */
export interface Fault {
  /** How many calls it hit. */
  readonly hits: number;
  /** Takes it back. */
  lift(): void;
}

export interface Faults {
  add(match: FaultMatch, effect: FaultEffect): Fault;
  /** The effects on this call, counting it. */
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
