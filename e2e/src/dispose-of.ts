// SPDX-License-Identifier: Apache-2.0
/**
 * disposeOf disposes of what beforeAll has made, in afterAll. Jest calls afterAll after a beforeAll that failed, too: what was not made is
 * undefined then, whatever its type says, and must not hide the error of beforeAll behind a TypeError.
 */

/** Disposes of all of them, in this order, also after one that fails. Rejects with the errors. */
export async function disposeOf(...resources: readonly (AsyncDisposable | undefined)[]): Promise<void> {
  const errors: unknown[] = [];
  for (const resource of resources) {
    try {
      await resource?.[Symbol.asyncDispose]();
    } catch (error) {
      errors.push(error);
    }
  }
  if (errors.length === 1) throw errors[0];
  if (errors.length > 1) throw new AggregateError(errors, `${errors.length} resources could not be disposed of`);
}
