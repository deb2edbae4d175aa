// SPDX-License-Identifier: Apache-2.0
/**
 * checkRequirements reports what a build needs and this machine lacks, with the command that installs it.
 * Usage: `await checkRequirements(["amd64", "arm64"]);`
 */
import { access, constants } from "node:fs/promises";
import { delimiter, join } from "node:path";
import type { Architecture } from "./architecture.ts";
import { ImagesError } from "./images-error.ts";
import { stripProgram } from "./node-binary.ts";

/** Rejects with ImagesError `missing-requirement`. */
export async function checkRequirements(architectures: readonly Architecture[]): Promise<void> {
  if (process.geteuid?.() !== 0) {
    throw new ImagesError("missing-requirement", "buildah needs root to write files of root into layers: run as root");
  }
  // Program -> Debian package.
  const programs: Readonly<Record<string, string>> = {
    buildah: "buildah",
    "dpkg-deb": "dpkg",
    tar: "tar",
    ...Object.fromEntries(
      architectures.map((name) => [
        stripProgram(name),
        `binutils-${stripProgram(name).slice(0, -6).replace("_", "-")}`,
      ]),
    ),
  };
  const missing: string[] = [];
  for (const program of Object.keys(programs)) if (!(await isOnPath(program))) missing.push(program);
  if (missing.length === 0) return;
  const packages = missing.map((program) => programs[program]).join(" ");
  throw new ImagesError(
    "missing-requirement",
    `not installed: ${missing.join(", ")}. On Debian and Ubuntu, run "apt-get install --no-install-recommends ${packages}"`,
  );
}

async function isOnPath(program: string): Promise<boolean> {
  for (const directory of (process.env["PATH"] ?? "").split(delimiter)) {
    const found = await access(join(directory, program), constants.X_OK).then(
      () => true,
      () => false,
    );
    if (found) return true;
  }
  return false;
}
