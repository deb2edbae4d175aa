// SPDX-License-Identifier: Apache-2.0
/**
 * Finds the parts from which a guest boots in the cache, or builds them if the user is root.
 * Usage: `const lab = await ensureLab({ kernel: "6.12", virtioVfs: false }, progress)`
 */
import type { Progress } from "@switchyard/testing";
import { join } from "node:path";
import { cacheDirectory, listParts, withBuildLock, type CachedPart } from "./cache.ts";
import { buildExtraModules, extraModulesKey } from "./extra-modules.ts";
import { buildImage, findKernel, imageKey, imagePart, type KernelLine } from "./image.ts";
import { ensureQemuWithVirtioVfs } from "./newer-qemu.ts";
import { hasQemu, isRoot, missingPrograms, programsOf, qemuAdvice, qemuProgram } from "../requirements.ts";
import { runScript } from "./run-script.ts";
import { VmLabError } from "../vm-lab-error.ts";
import { labDirectory } from "../workspace.ts";

/** The parts of a guest. All have the same kernel version. */
export interface Lab {
  readonly image: CachedPart;
  /** Modules that Debian does not build, for kernel 6.12. */
  readonly modules?: CachedPart;
}

/** A lab, and the program that boots guests from it. */
export interface ReadyLab extends Lab {
  /** Program or path of QEMU. */
  readonly qemu: string;
}

/** What a guest needs. */
export interface LabRequest {
  readonly kernel: KernelLine;
  /** Whether the guest has virtio VFs, which the QEMU of Debian 13 and its predecessors does not emulate. */
  readonly virtioVfs: boolean;
}

/** They are built from the sources of Debian 13's kernel. */
function hasExtraModules(kernel: KernelLine): boolean {
  return kernel === "6.12";
}

/** Returns the newest complete lab in the cache. Uses neither apt nor the network. */
export async function findLab(kernel: KernelLine): Promise<Lab | undefined> {
  const cache = cacheDirectory();
  const images = await listParts(cache, imagePart[kernel], await imageKey());
  if (!hasExtraModules(kernel)) return images[0] && { image: images[0] };
  const layers = await listParts(cache, "modules", await extraModulesKey());
  for (const image of images) {
    const modules = layers.find(({ version }) => version === image.version);
    if (modules !== undefined) return { image, modules };
  }
  return undefined;
}

/**
 * Ensures that QEMU and a lab exist, and returns the lab. Rejects with VmLabError `qemu-missing`, `not-built` or `build-failed`.
 */
export async function ensureLab(request: LabRequest, progress: Progress): Promise<ReadyLab> {
  await ensureQemu(progress);
  const lab = (await findLab(request.kernel)) ?? (await buildLab(request, progress));
  return { ...lab, qemu: request.virtioVfs ? await ensureQemuWithVirtioVfs(progress) : qemuProgram };
}

/** Builds the missing parts for the newest kernel in apt, without QEMU. Rejects with VmLabError `not-built` or `build-failed`. */
export async function buildLab({ kernel, virtioVfs }: LabRequest, progress: Progress): Promise<Lab> {
  const cache = cacheDirectory();
  if (!isRoot()) {
    throw new VmLabError(
      "not-built",
      `${cache} contains no image of this checkout. Building an image needs root; run once:\n` +
        `  sudo env "PATH=$PATH" XDG_CACHE_HOME=${join(cache, "../..")} npm run vm -- build${buildFlags({ kernel, virtioVfs })}\n` +
        "Running guests does not need root.",
    );
  }
  const waiting = () => {
    progress.say("waiting for another build to end");
  };
  return withBuildLock(cache, waiting, async () => {
    await ensurePackages(hasExtraModules(kernel) ? ["image", "modules"] : ["image"], progress);
    const found = await findKernel(cache, kernel);
    const isCurrent = (part: CachedPart) => part.version === found.version;
    const image =
      (await listParts(cache, found.part, await imageKey())).find(isCurrent) ??
      (await buildImage(cache, found, progress));
    if (!hasExtraModules(kernel)) return { image };
    const modules =
      (await listParts(cache, "modules", await extraModulesKey())).find(isCurrent) ??
      (await buildExtraModules(cache, found.version, progress));
    return { image, modules };
  });
}

/** Returns the options of `npm run vm -- build` for this lab. */
function buildFlags({ kernel, virtioVfs }: LabRequest): string {
  return `${kernel === "6.12" ? "" : ` --kernel ${kernel}`}${virtioVfs ? " --virtio-vfs 1" : ""}`;
}

/** Installs the Debian packages of these parts. Rejects with VmLabError `build-failed`. */
export async function installPackages(parts: readonly string[], progress: Progress): Promise<void> {
  if (!isRoot()) throw new VmLabError("not-built", "installing packages needs root; run: sudo npm run vm -- deps");
  await progress.during(`packages of this machine (${parts.join(", ")})`, () =>
    runScript(join(labDirectory(), "image/deps.sh"), parts),
  );
}

/**
 * Installs as root what guests and their images need and this machine lacks. Does nothing for other users, who can start guests
 * from a complete cache; bootGuest says what they lack.
 */
export async function ensureLabPackages(progress: Progress): Promise<void> {
  if (!isRoot()) return;
  const missing = await missingPrograms([...programsOf.image, ...programsOf.modules]);
  if (missing.length > 0) await installPackages(["image", "modules"], progress);
  await ensureQemu(progress);
}

async function ensureQemu(progress: Progress): Promise<void> {
  if (await hasQemu()) return;
  if (!isRoot()) throw new VmLabError("qemu-missing", qemuAdvice);
  await installPackages(["qemu"], progress);
  if (!(await hasQemu())) throw new VmLabError("qemu-missing", qemuAdvice);
}

async function ensurePackages(parts: readonly ("image" | "modules")[], progress: Progress): Promise<void> {
  const missing = await missingPrograms(parts.flatMap((part) => programsOf[part]));
  if (missing.length > 0) await installPackages(parts, progress);
}
