// SPDX-License-Identifier: Apache-2.0
/**
 * createGuestShare creates the directory that the guest mounts: the daemon's bundle (main.js), the native packages
 * that it loads, and the compile cache of its image.
 * Usage: `await using share = await createGuestShare(); await bootGuest({ share: share.directory })`
 */
import { writeCompileCache } from "@switchyard/images";
import { bundleForGuest } from "@switchyard/vm-lab";
import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { buildApp } from "../harness/bundle.ts";

/** A directory. Disposing it removes the directory. */
export interface GuestShare extends AsyncDisposable {
  readonly directory: string;
}

export async function createGuestShare(): Promise<GuestShare> {
  const directory = await mkdtemp(join(tmpdir(), "switchyard-bench-guest-"));
  await cp(await bundleForGuest("apps/config-daemon/src/main.ts"), directory, { recursive: true });
  // Not the lab's own bundle, which contains a source map for debugging that would count as memory.
  await cp(dirname(await buildApp("config-daemon")), directory, { recursive: true });
  await writeCompileCache(directory, process.execPath);
  return { directory, [Symbol.asyncDispose]: () => rm(directory, { recursive: true, force: true }) };
}
