// SPDX-License-Identifier: Apache-2.0
/**
 * A no inside the fake kernel; the ports' edge (fake-host.ts) makes it a HostError that says what was tried.
 * Usage: `throw new Refusal("EINVAL", "mtu greater than device maximum")`.
 */

/** The errno's name, and the kernel's words where it has some. */
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

/** The answer of something that is done at once, as a port gives it. */
export function answer<Value>(act: () => Value): Promise<Value> {
  return new Promise((resolve) => {
    resolve(act());
  });
}
