// SPDX-License-Identifier: Apache-2.0
/**
 * Transactions that wait until ovs-vswitchd has applied them, as ovs-vsctl does: the transaction increments `next_cfg`, and
 * ovs-vswitchd copies it to `cur_cfg` when it is done.
 * Usage: `await configure(client, operations, AbortSignal.timeout(10_000)); const problem = interfaceProblem(row);`
 */
import type { OvsdbClient } from "../client/client.ts";
import { OvsdbError } from "../ovsdb-error.ts";
import type { Row } from "../wire/column.ts";
import type { WireOperation, WireResult } from "../wire/notation.ts";
import { mutate, mutateRows, selectRows } from "../wire/operations.ts";
import { openVswitch, type iface } from "./tables.ts";

/**
 * Commits `operations` and waits until ovs-vswitchd has applied them; resolves with their results. Rejects as
 * OvsdbClient.transact() does, and with OvsdbError `aborted` if ovs-vswitchd is too slow or down: the transaction itself is
 * then committed. The client must monitor `openVswitch`.
 */
export async function configure(
  client: OvsdbClient,
  operations: readonly WireOperation[],
  signal: AbortSignal,
): Promise<readonly WireResult[]> {
  const counted = [
    ...operations,
    mutateRows(openVswitch, [], [mutate(openVswitch, "next_cfg", "+=", 1)]),
    selectRows(openVswitch, [], ["next_cfg"]),
  ];
  const results = await client.transact(counted, signal);
  const configuration = results.at(-1)?.rows?.[0]?.["next_cfg"];
  if (typeof configuration !== "number") throw new OvsdbError("protocol", "select of next_cfg has no result");
  await untilApplied(client, configuration, signal);
  return results.slice(0, operations.length);
}

/** Why an interface does not work after configure(); undefined if it does. `error` alone does not tell: it can be empty. */
export function interfaceProblem({
  name,
  ofport,
  error,
}: Pick<Row<typeof iface>, "name" | "ofport" | "error">): string | undefined {
  if (ofport !== undefined && ofport > 0) return undefined;
  if (error !== undefined && error !== "") return error;
  return ofport === undefined
    ? `ovs-vswitchd did not add interface ${name}: its log has the reason`
    : `ovs-vswitchd could not open interface ${name}: its log has the reason`;
}

async function untilApplied(client: OvsdbClient, configuration: number, signal: AbortSignal): Promise<void> {
  const isApplied = (): boolean =>
    [...client.cache.rows(openVswitch).values()].some(({ cur_cfg }) => cur_cfg >= configuration);
  if (isApplied()) return;
  const { promise, resolve, reject } = Promise.withResolvers<undefined>();
  const unsubscribe = client.cache.subscribe(() => {
    if (isApplied()) resolve(undefined);
  });
  const abort = (): void => {
    const message = `the configuration is stored, but ovs-vswitchd has not applied it: waiting for cur_cfg ${configuration}`;
    reject(new OvsdbError("aborted", message, { cause: signal.reason }));
  };
  if (signal.aborted) abort();
  signal.addEventListener("abort", abort, { once: true });
  try {
    await promise;
  } finally {
    unsubscribe();
    signal.removeEventListener("abort", abort);
  }
}
