// SPDX-License-Identifier: Apache-2.0
/**
 * describeStatus lists the built and missing parts of the lab.
 * Usage: `const { ready, lines } = await describeStatus()`
 */
import { cacheDirectory } from "./cache.ts";
import { extraModulesKey } from "./extra-modules.ts";
import { imageKey } from "./image.ts";
import { findLab } from "./lab.ts";
import { findQemuWithVirtioVfs } from "./newer-qemu.ts";
import { chooseAccelerator, hasQemu, isRoot, qemuAdvice } from "./requirements.ts";

/** `ready` when a guest can boot without building anything. */
export async function describeStatus(): Promise<{ readonly ready: boolean; readonly lines: readonly string[] }> {
  const [lab, newest] = await Promise.all([findLab("6.12"), findLab("backports")]);
  const qemu = await hasQemu();
  const withVfs = await findQemuWithVirtioVfs();
  const [ofImage, ofModules] = [await imageKey(), await extraModulesKey()];
  const missing = (key: string, flags = ""): string =>
    `not built for this checkout (key ${key}); run: npm run vm -- build${isRoot() ? "" : " (as root)"}${flags}`;
  return {
    ready: qemu && lab !== undefined,
    lines: [
      `QEMU       ${qemu ? `with igb, ${await chooseAccelerator()}` : qemuAdvice}`,
      `cache      ${cacheDirectory()}`,
      `image      ${lab?.image.directory ?? missing(ofImage)}`,
      `modules    ${lab?.modules?.directory ?? missing(ofModules)}`,
      `newer QEMU ${withVfs ?? "for virtio VFs: not unpacked yet; the first guest with them does it"}`,
      `backports  ${newest?.image.directory ?? missing(ofImage, " --kernel backports")}`,
    ],
  };
}
