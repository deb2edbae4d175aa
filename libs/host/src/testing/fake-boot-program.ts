// SPDX-License-Identifier: Apache-2.0
/**
 * Implements BootProgram on the disk of the fake kernel, without the content of files.
 * Usage: `const { port } = createFakeBootProgram();`
 */
import type { BootProgram } from "../ports/boot-program.ts";
import { answer, Refusal } from "./refusal.ts";

export function createFakeBootProgram(): { readonly port: BootProgram } {
  let version: string | undefined;
  return {
    port: {
      readVersion: () => answer(() => version),
      install: ({ id }) =>
        answer(() => {
          if (!/^[\w.-]+$/.test(id)) throw new Refusal("EINVAL");
          version = id;
        }),
      removeAll: () =>
        answer(() => {
          version = undefined;
        }),
    },
  };
}
