// SPDX-License-Identifier: Apache-2.0
/**
 * describeStatus lists the built and missing parts of the lab.
 * Usage: `const { ready, lines } = await describeStatus()`
 */
import { cacheDirectory } from "./cache.ts";
import { extraModulesKey } from "./extra-modules.ts";
import { imageKey } from "./image.ts";
import { findLab } from "./lab.ts";
import { chooseAccelerator, hasQemu, isRoot, qemuAdvice } from "./requirements.ts";

/** `ready` when a guest can boot without building anything. */
export async function describeStatus(): Promise<{ readonly ready: boolean; readonly lines: readonly string[] }> {
  const [qemu, plain, full] = await Promise.all([hasQemu(), findLab(false), findLab(true)]);
  const build = `npm run vm -- build${isRoot() ? "" : " (as root)"}`;
  return {
    ready: qemu && plain !== undefined,
    lines: [
      `QEMU     ${qemu ? `with igb, ${await chooseAccelerator()}` : qemuAdvice}`,
      `cache    ${cacheDirectory()}`,
      `image    ${plain?.image.directory ?? `not built for this checkout (key ${await imageKey()}); run: ${build}`}`,
      `modules  ${full?.modules?.directory ?? `not built for this checkout (key ${await extraModulesKey()}); run: ${build} --with-modules`}`,
    ],
  };
}
