// SPDX-License-Identifier: Apache-2.0
/**
 * The QEMU of Debian's backports, for what an installed QEMU does not emulate: virtio NICs with SR-IOV. It is unpacked into the cache
 * with all its libraries, and installs nothing.
 */
import type { Progress } from "@switchyard/testing";
import { join } from "node:path";
import { cacheDirectory, contentKey, listParts, populate, withBuildLock } from "./cache.ts";
import { aptConfig } from "./image.ts";
import { hasVirtioVfs, missingPrograms, programsOf, qemuProgram } from "../requirements.ts";
import { runScript } from "./run-script.ts";
import { VmLabError } from "../vm-lab-error.ts";
import { labDirectory } from "../workspace.ts";

/** QEMU needs libraries of Debian 13. */
const suites = ["trixie", "trixie-backports"];

/** Returns the QEMU that emulates virtio VFs, the installed one or that in the cache; undefined if there is none. */
export async function findQemuWithVirtioVfs(cache: string = cacheDirectory()): Promise<string | undefined> {
  if (await hasVirtioVfs(qemuProgram)) return qemuProgram;
  const [newest] = await listParts(cache, "qemu", await qemuKey());
  return newest && join(newest.directory, qemuProgram);
}

/** Returns the same, and unpacks it first if there is none. Rejects with VmLabError `unsupported-host` or `build-failed`. */
export async function ensureQemuWithVirtioVfs(progress: Progress): Promise<string> {
  return (await findQemuWithVirtioVfs()) ?? (await buildNewestQemu(progress));
}

/** Unpacks the newest QEMU of the backports, unless the cache has it. Takes half a minute and downloads 40 MB. Rejects as above. */
export async function buildNewestQemu(progress: Progress): Promise<string> {
  const missing = await missingPrograms(programsOf.qemu);
  if (missing.length > 0) {
    const what = `virtio NICs with VFs need a QEMU such as 11.1, and unpacking it needs ${missing.join(", ")}`;
    throw new VmLabError("unsupported-host", `${what}: run the lab on Debian 12 or 13, or install such a QEMU`);
  }
  const cache = cacheDirectory();
  const waiting = () => {
    progress.say("waiting for another build to end");
  };
  try {
    return await withBuildLock(cache, waiting, () =>
      progress.during("newer QEMU, for virtio VFs", () => unpackNewest(cache)),
    );
  } catch (error) {
    if (!(error instanceof VmLabError)) throw error;
    const what = "virtio NICs with VFs need a newer QEMU, which cannot be unpacked from Debian's backports";
    throw new VmLabError(error.code, `${what}: ${error.message}`, { cause: error });
  }
}

async function unpackNewest(cache: string): Promise<string> {
  const key = await qemuKey();
  const env = { APT_CONFIG: await aptConfig(join(cache, "apt-qemu"), suites) };
  const version = await runScript(join(labDirectory(), "qemu/version.sh"), [], env);
  const name = version.replace(/^\d+:/, ""); // a colon would end a path of libraries
  const existing = (await listParts(cache, "qemu", key)).find((part) => part.version === name);
  const { directory } =
    existing ??
    (await populate(cache, { part: "qemu", key, version: name }, async (to) => {
      await runScript(join(labDirectory(), "qemu/unpack.sh"), [version, to], env);
      if (!(await hasVirtioVfs(join(to, qemuProgram)))) {
        throw new VmLabError("build-failed", `QEMU ${version} does not emulate virtio NICs with VFs`);
      }
    }));
  return join(directory, qemuProgram);
}

/** The key of the QEMU that this checkout unpacks. */
function qemuKey(): Promise<string> {
  return contentKey(labDirectory(), ["qemu", "image/apt-config.sh", "image/mirror.sh", "src/image/newer-qemu.ts"], []);
}
