// SPDX-License-Identifier: Apache-2.0
/**
 * debianIgnition returns the programs of Debian's package ignition, unpacked into the user's cache: its validator, and its main
 * program under the name by which it applies a configuration to a directory.
 * Usage: `const { validate, apply } = await debianIgnition(); await runProgram(apply, ["--root", directory, file]);`
 */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, rename, rm, symlink } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

/** Paths of programs. */
export interface DebianIgnition {
  /** `ignition-validate FILE` */
  readonly validate: string;
  /** `ignition-apply --root DIRECTORY FILE` writes what the first boot of a machine would write. Needs root for owners. */
  readonly apply: string;
}

/** The first call downloads 4 MB. Rejects if this is no Debian, or it cannot be downloaded. */
export async function debianIgnition(): Promise<DebianIgnition> {
  const run = promisify(execFile);
  const cache = join(process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache"), "switchyard");
  const unpacked = join(cache, "debian-ignition");
  if (!existsSync(unpacked)) {
    await mkdir(cache, { recursive: true });
    const draft = await mkdtemp(join(cache, ".unpacking-"));
    try {
      await run("apt-get", ["download", "-qq", "-o", "APT::Sandbox::User=root", "ignition"], { cwd: draft });
      const deb = (await readdir(draft)).find((name) => name.endsWith(".deb"));
      if (deb === undefined) throw new Error("apt-get downloaded no package ignition");
      await run("dpkg", ["-x", deb, "tree"], { cwd: draft });
      await symlink("usr/lib/dracut/modules.d/30ignition/ignition", join(draft, "tree/ignition-apply"));
      await rename(join(draft, "tree"), unpacked).catch((error: unknown) => {
        if (!existsSync(unpacked)) throw error; // another process unpacked it meanwhile
      });
    } finally {
      await rm(draft, { recursive: true, force: true });
    }
  }
  return { validate: join(unpacked, "usr/bin/ignition-validate"), apply: join(unpacked, "ignition-apply") };
}
