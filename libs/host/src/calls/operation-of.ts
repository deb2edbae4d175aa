// SPDX-License-Identifier: Apache-2.0
/**
 * operationOf returns the description of a call of any port, for code that handles the calls of all ports.
 * Usage: `const { action, target } = operationOf({ port: "sriov", method: "setNumVfs", args: [pf, 8] })`.
 */
import type { HostOperation } from "./host-error.ts";
import { operations } from "./operations.ts";
import type { PortCall } from "./wrap-ports.ts";

/** Throws if operations.ts lacks the method, which is a bug. */
export function operationOf({ port, method, args }: PortCall): HostOperation {
  const describe: unknown = Reflect.get(operations[port], method);
  const operation: unknown = typeof describe === "function" && Reflect.apply(describe, undefined, args);
  if (!isOperation(operation)) throw new Error(`operations.ts does not describe ${port}.${method}`);
  return operation;
}

function isOperation(value: unknown): value is HostOperation {
  return typeof value === "object" && value !== null && "action" in value && "target" in value;
}
