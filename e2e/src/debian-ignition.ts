// SPDX-License-Identifier: Apache-2.0
/**
 * debianIgnition returns the programs of Debian's package ignition, unpacked into the user's cache: its validator, and its main
 * program under the name by which it applies a configuration to a directory.
 */
import { execFile } from "node:child_process";
import { readdir, rm, symlink } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { cachedDirectory } from "@switchyard/testing/user-cache";

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
  const unpacked = await cachedDirectory("debian-ignition", async (tree) => {
    await run("apt-get", ["download", "-qq", "-o", "APT::Sandbox::User=root", "ignition"], { cwd: tree });
    const deb = (await readdir(tree)).find((name) => name.endsWith(".deb"));
    if (deb === undefined) throw new Error("apt-get downloaded no package ignition");
    await run("dpkg", ["-x", deb, "."], { cwd: tree });
    await rm(join(tree, deb));
    await symlink("usr/lib/dracut/modules.d/30ignition/ignition", join(tree, "ignition-apply"));
  });
  return { validate: join(unpacked, "usr/bin/ignition-validate"), apply: join(unpacked, "ignition-apply") };
}
