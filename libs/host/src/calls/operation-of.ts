// SPDX-License-Identifier: Apache-2.0
/**
 * What a call of a port is called in messages, for code that sees calls of all ports.
 * Usage: `const { tried, target } = attemptOf({ port: "sriov", method: "setNumVfs", args: [pf, 8] })`.
 */
import { attempts } from "./operations.ts";
import type { HostError } from "./host-error.ts";
import type { PortCall } from "./wrap-ports.ts";

/** Throws where attempts.ts lacks the verb: a bug. */
export function attemptOf({ port, method, args }: PortCall): HostError["at"] {
  const describe: unknown = Reflect.get(attempts[port], method);
  const at: unknown = typeof describe === "function" && Reflect.apply(describe, undefined, args);
  if (!isAttempt(at)) throw new Error(`attempts.ts does not tell of ${port}.${method}`);
  return at;
}

function isAttempt(value: unknown): value is HostError["at"] {
  return typeof value === "object" && value !== null && "tried" in value && "target" in value;
}
