// SPDX-License-Identifier: Apache-2.0
/**
 * The second layer: modules that Debian's kernel lacks, built against its headers (driver/build.sh), and the module index
 * that knows them. Laid over the root disk at boot, so it needs no image of its own.
 */
import type { Progress } from "@switchyard/testing";
import { join } from "node:path";
import { contentKey, populate, type CachedPart } from "./cache.ts";
import { runScript } from "./run-script.ts";
import { labDirectory } from "../workspace.ts";

/** The key of the modules that this checkout builds. */
export function extraModulesKey(): Promise<string> {
  return contentKey(
    labDirectory(),
    ["driver", "image/kernel.sh", "image/guest-modules.sh", "src/image/extra-modules.ts"],
    [],
  );
}

/** Needs the packages of image/deps.sh. Takes half a minute and downloads 170 MB. Rejects with VmLabError. */
export async function buildExtraModules(cache: string, kernelVersion: string, progress: Progress): Promise<CachedPart> {
  return populate(
    cache,
    { part: "modules", key: await extraModulesKey(), version: kernelVersion },
    async (directory) => {
      await progress.during(`modules that Debian's ${kernelVersion} lacks`, () =>
        runScript(join(labDirectory(), "driver/build.sh"), [kernelVersion, join(cache, "debs"), directory]),
      );
    },
  );
}
