// SPDX-License-Identifier: Apache-2.0
/**
 * Transactions: all operations take effect, or none.
 * Usage: `const [inserted] = await transact(connection, "Open_vSwitch", operations)`
 */
import { OvsdbError, type OperationFailure } from "../ovsdb-error.ts";
import type { WireOperation, WireResult } from "../wire/notation.ts";
import type { Connection } from "./connection.ts";

/**
 * The results, one for each operation. Rejects with OvsdbError `transaction` if an operation or the commit fails, and as
 * Connection.request() does.
 */
export async function transact(
  connection: Connection,
  database: string,
  operations: readonly WireOperation[],
  signal?: AbortSignal,
): Promise<readonly WireResult[]> {
  const answer = await connection.request("transact", [database, ...operations], signal);
  if (!Array.isArray(answer)) throw new OvsdbError("protocol", `transact: expected an array, got ${typeof answer}`);
  // Errors of the commit come as an element of their own, after those of the operations (RFC 7047, 4.1.3).
  const failures = answer.flatMap((element: unknown, index) => failureAt(element, index));
  if (failures.length > 0) throw transactionError(operations, failures);
  // null stands for operations after the one that failed; without a failure there is none.
  return answer.slice(0, operations.length).map((element: unknown) => element as WireResult);
}

function failureAt(element: unknown, index: number): OperationFailure[] {
  if (typeof element !== "object" || element === null || !("error" in element)) return [];
  const { error, details } = element as Readonly<Record<string, unknown>>;
  if (typeof error !== "string") return [];
  return [{ index, error, details: typeof details === "string" ? details : "" }];
}

function transactionError(operations: readonly WireOperation[], failures: readonly OperationFailure[]): OvsdbError {
  const words = failures.map(({ index, error, details }) => {
    const operation = operations[index];
    const what = operation === undefined ? "commit" : describe(operation);
    return `${what}: ${error}${details === "" ? "" : ` (${details})`}`;
  });
  return new OvsdbError("transaction", words.join("; "), { failures });
}

function describe(operation: WireOperation): string {
  return "table" in operation ? `${operation.op} ${operation.table}` : operation.op;
}
