// SPDX-License-Identifier: Apache-2.0
/**
 * The processor architectures of the images, by their names in OCI images and Debian.
 * Usage: `const { npm, multiarch } = architectures.arm64;`
 */

/** Name in OCI images and Debian. */
export type Architecture = "amd64" | "arm64";

interface ArchitectureNames {
  /** Name in Node and in npm packages. */
  readonly npm: string;
  /** Directory of libraries in Debian, and prefix of the programs of binutils. */
  readonly multiarch: "x86_64-linux-gnu" | "aarch64-linux-gnu";
}

export const architectures: Readonly<Record<Architecture, ArchitectureNames>> = {
  amd64: { npm: "x64", multiarch: "x86_64-linux-gnu" },
  arm64: { npm: "arm64", multiarch: "aarch64-linux-gnu" },
};

/** All architectures. */
export const architectureNames = ["amd64", "arm64"] as const satisfies readonly Architecture[];

export function isArchitecture(text: string): text is Architecture {
  return Object.hasOwn(architectures, text);
}
