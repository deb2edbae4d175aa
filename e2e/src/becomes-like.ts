// SPDX-License-Identifier: Apache-2.0
/**
 * becomesLike waits until what is read matches, as toMatchObject() compares.
 * Usage: `await becomesLike("the node", () => readIfThere(user, path), { metadata: { labels: { a: "b" } } });`
 */
import { expect } from "@jest/globals";
import { eventually } from "@switchyard/testing";

/** The error shows how what was read last differs. */
export async function becomesLike(
  what: string,
  read: () => Promise<unknown>,
  expected: object,
  withinMs = 60_000,
): Promise<void> {
  let last: unknown;
  const matches = async (): Promise<boolean> => {
    last = await read();
    try {
      expect(last).toMatchObject(expected);
      return true;
    } catch {
      return false;
    }
  };
  await eventually(what, matches, { withinMs }).catch(() => {
    expect(last).toMatchObject(expected);
  });
}
