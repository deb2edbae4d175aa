// SPDX-License-Identifier: Apache-2.0
/**
 * ensureRequirements installs the Debian packages that a build needs, or says what is missing.
 * Usage: `await ensureRequirements(["amd64", "arm64"]);`
 */
import { access, constants } from "node:fs/promises";
import { delimiter, join } from "node:path";
import type { Architecture } from "./architecture.ts";
import { ImagesError } from "./images-error.ts";
import { stripProgram } from "./node-binary.ts";
import { during } from "./progress.ts";
import { runProgram } from "./run-program.ts";

/** Needs root. Rejects with ImagesError `missing-requirement` if a program is missing and apt-get does not install it. */
export async function ensureRequirements(architectures: readonly Architecture[]): Promise<void> {
  if (process.geteuid?.() !== 0) {
    const words = "root is required, because buildah writes files of root into layers; run the command as root";
    throw new ImagesError("missing-requirement", words);
  }
  const first = await missingPrograms(architectures);
  if (first.length === 0) return;
  const packages = first.map(({ debianPackage }) => debianPackage);
  if (await isOnPath("apt-get")) {
    const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
    await during(`install ${packages.join(", ")}`, async () => {
      await runProgram("apt-get", ["update", "-qq"], { env }).catch(() => undefined); // a foreign source may fail
      const options = ["-qq", "-y", "--no-install-recommends", "-o", "DPkg::Lock::Timeout=300"];
      await runProgram("apt-get", ["install", ...options, ...packages], { env });
    });
  }
  const missing = await missingPrograms(architectures);
  if (missing.length === 0) return;
  const programs = missing.map(({ program }) => program).join(", ");
  throw new ImagesError(
    "missing-requirement",
    `not installed: ${programs}. The packages of Debian and Ubuntu are ${packages.join(", ")}`,
  );
}

interface Requirement {
  readonly program: string;
  readonly debianPackage: string;
}

async function missingPrograms(architectures: readonly Architecture[]): Promise<readonly Requirement[]> {
  const requirements: readonly Requirement[] = [
    { program: "buildah", debianPackage: "buildah" },
    { program: "dpkg-deb", debianPackage: "dpkg" },
    { program: "tar", debianPackage: "tar" },
    ...architectures.map((name) => {
      const program = stripProgram(name);
      return { program, debianPackage: `binutils-${program.replace("-strip", "").replace("_", "-")}` };
    }),
  ];
  const missing: Requirement[] = [];
  for (const requirement of requirements) if (!(await isOnPath(requirement.program))) missing.push(requirement);
  return missing;
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
