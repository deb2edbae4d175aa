// SPDX-License-Identifier: Apache-2.0
/** writeArchive packs a directory such that the same content gives the same bytes. */
import { outputOf } from "@switchyard/testing";
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { ReleaseError } from "./release-error.ts";

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
  await outputOf("tar", [
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

/**
 * sourceEpoch is the time that files of a release get, so that a release can be repeated byte by byte.
 * Returns SOURCE_DATE_EPOCH, or the time of the commit, in seconds since 1970.
 */
export async function sourceEpoch(root: string, env: Readonly<Record<string, string | undefined>>): Promise<number> {
  const { SOURCE_DATE_EPOCH: given } = env;
  const text = given ?? (await outputOf("git", ["log", "-1", "--format=%ct"], { cwd: root })).trim();
  if (/^\d{1,12}$/.test(text)) return Number(text);
  throw new ReleaseError("usage", `SOURCE_DATE_EPOCH: "${text}" must be a number of seconds since 1970`);
}
