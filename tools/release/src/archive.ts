// SPDX-License-Identifier: Apache-2.0
/**
 * writeArchive packs a directory such that the same content gives the same bytes.
 * Usage: `const { sha256 } = await writeArchive({ directory, archive: "dist/krew/x.tar.gz", epoch: 1_770_000_000 })`.
 */
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { runProgram } from "./run-program.ts";

export interface ArchiveOptions {
  readonly directory: string;
  /** Path of the .tar.gz file. */
  readonly archive: string;
  /** Time of all files, in seconds since 1970. */
  readonly epoch: number;
}

export async function writeArchive({
  directory,
  archive,
  epoch,
}: ArchiveOptions): Promise<{ readonly sha256: string }> {
  const stable = [
    "--sort=name",
    `--mtime=@${epoch}`,
    "--owner=0",
    "--group=0",
    "--numeric-owner",
    "--mode=u=rwX,go=rX",
  ];
  const compress = "--use-compress-program=gzip -n";
  await runProgram("tar", [
    "--create",
    `--file=${archive}`,
    compress,
    ...stable,
    "--format=gnu",
    `--directory=${directory}`,
    ".",
  ]);
  return {
    sha256: createHash("sha256")
      .update(await readFile(archive))
      .digest("hex"),
  };
}
