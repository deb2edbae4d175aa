// SPDX-License-Identifier: Apache-2.0
/**
 * sourceEpoch is the time that files of a release get, so that a release can be repeated byte by byte.
 * Usage: `const epoch = await sourceEpoch(root, process.env)`.
 */
import { runProgram } from "./run-program.ts";
import { ReleaseError } from "./release-error.ts";

/** Returns SOURCE_DATE_EPOCH, or the time of the commit, in seconds since 1970. */
export async function sourceEpoch(root: string, env: Readonly<Record<string, string | undefined>>): Promise<number> {
  const { SOURCE_DATE_EPOCH: given } = env;
  const text = given ?? (await runProgram("git", ["log", "-1", "--format=%ct"], { cwd: root })).trim();
  if (/^\d{1,12}$/.test(text)) return Number(text);
  throw new ReleaseError("usage", `SOURCE_DATE_EPOCH: "${text}" must be a number of seconds since 1970`);
}
