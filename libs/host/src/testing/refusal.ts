// SPDX-License-Identifier: Apache-2.0
/**
 * Refusal is the error inside the fake kernel. fake-host.ts converts it to a HostError that names the operation.
 * Usage: `throw new Refusal("EINVAL", "mtu greater than device maximum")`.
 */

/** The name of the errno, and an explanation of the kernel, if any. */
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
