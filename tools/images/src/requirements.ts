// SPDX-License-Identifier: Apache-2.0
/**
 * ensureRequirements installs the Debian packages that a build needs, or says what is missing.
 * Usage: `await ensureRequirements(["amd64", "arm64"]);`
 */
import { ensurePrograms, TestingError, type ProgramName } from "@switchyard/testing";
import type { Architecture } from "./architecture.ts";
import { ImagesError } from "./images-error.ts";
import { stripProgram } from "./node-binary.ts";

/** Needs root. Rejects with ImagesError `missing-requirement` if a program is missing and apt-get does not install it. */
export async function ensureRequirements(architectures: readonly Architecture[]): Promise<void> {
  if (process.geteuid?.() !== 0) {
    const words = "root is required, because buildah writes files of root into layers; run the command as root";
    throw new ImagesError("missing-requirement", words);
  }
  const programs: readonly ProgramName[] = ["buildah", "dpkg-deb", "tar", ...architectures.map(stripProgram)];
  try {
    await ensurePrograms(programs);
  } catch (error) {
    if (error instanceof TestingError) throw new ImagesError("missing-requirement", error.message);
    throw error;
  }
}
