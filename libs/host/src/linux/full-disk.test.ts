// SPDX-License-Identifier: Apache-2.0
/** Disks that are full or read-only: tmpfs in a mount namespace of its own. */
import { describe, expect, it } from "@jest/globals";
import { execFile, spawnSync } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const probe = spawnSync("unshare", ["--mount", "true"], { encoding: "utf8" });
const missing = probe.error?.message ?? (probe.status === 0 ? undefined : probe.stderr.trim());
if (missing !== undefined) console.error(`SKIPPED: cannot create a mount namespace: ${missing}`);

const program = join(import.meta.dirname, "../testing/read-only-disk-main.ts");

/** Returns the errors of changes on a small disk, after `prepare` has run on it. $1 is the root of the disk. */
async function errorsAfter(prepare: string): Promise<readonly string[]> {
  const root = await mkdtemp(join(tmpdir(), "switchyard-disk-"));
  try {
    const script = `mount -t tmpfs -o size=64k none "$1" && mkdir -p "$1/etc/modprobe.d" "$1/run" && ${prepare} && exec "$2" "$3" "$1"`;
    const { stdout } = await promisify(execFile)("unshare", [
      ...["--mount", "sh", "-c", script, "sh"],
      ...[root, process.execPath, program],
    ]);
    return stdout.trim().split("\n");
  } finally {
    await rm(root, { recursive: true });
  }
}

(missing === undefined ? describe : describe.skip)("errors of a disk", () => {
  it("name the errno of a read-only disk, and the whole path", async () => {
    expect(await errorsAfter('mount -o remount,ro "$1"')).toEqual([
      "write on /etc/modprobe.d/new/x.conf: EROFS",
      "save record on 0000:01:00.0: EROFS (/etc/sriov-operator/pci/0000:01:00.0; set --state-directory (STATE_DIRECTORY) to a " +
        "directory of the host that can be written)",
      "done", // there is no record
      "take the lock on this node: EROFS (mkdir /run/switchyard)",
      "stopped",
    ]);
  });

  it("name the whole path on a full disk", async () => {
    expect((await errorsAfter("true")).slice(0, 3)).toEqual([
      "write on /etc/modprobe.d/new/x.conf: ENOSPC",
      "save record on 0000:01:00.0: ENOSPC (/etc/sriov-operator/pci/0000:01:00.0)",
      "done",
    ]);
  });
});
