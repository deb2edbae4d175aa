// SPDX-License-Identifier: Apache-2.0
/**
 * keepAfxdpBoot keeps the file from which the next boot of a node in systemd mode configures the AF_XDP devices, and reads what
 * the last boot did. The units and the program are those of prepare-boot.ts. Unlike PFs, the running daemon configures AF_XDP
 * devices in this mode, too.
 */
import { isOwnBootFile, type AfxdpInterfaceSpec } from "@switchyard/api";
import type { Host, HostFiles } from "@switchyard/host";
import type { PlanProblem } from "@switchyard/plan";
import { afxdpBootConfigPath, afxdpBootResultPath, formatAfxdpBootConfig } from "../boot-files/afxdp-boot-config.ts";
import { digestOf } from "../boot-files/boot-config.ts";
import { parseBootResult } from "../boot-files/boot-result.ts";

/** Returns why the last boot did not configure `interfaces`, if it tried. Rejects with HostError. */
export type KeepAfxdpBoot = (
  host: Pick<Host, "boot" | "files">,
  interfaces: readonly AfxdpInterfaceSpec[],
) => Promise<PlanProblem | undefined>;

/** Another tool configures externally managed devices. Without any other, there is no file. */
export const keepAfxdpBoot: KeepAfxdpBoot = async ({ boot, files }, interfaces) => {
  const own = interfaces.filter(({ externallyManaged }) => externallyManaged !== true);
  if (own.length === 0) {
    await removeAfxdpBoot(files);
    return undefined;
  }
  const config = formatAfxdpBootConfig(own);
  if ((await files.readText(afxdpBootConfigPath)) !== config) await files.writeText(afxdpBootConfigPath, config);
  const result = parseBootResult((await files.readText(afxdpBootResultPath)) ?? "");
  const isOfThisBoot = result?.bootID === (await boot.readBootId()) && result.configDigest === digestOf(config);
  if (!isOfThisBoot || result.syncStatus === "Succeeded") return undefined;
  const unfinished = "post: sriov-config-post-network.service has not finished in this boot";
  const message = result.syncStatus === "Failed" ? result.lastSyncError : unfinished;
  return { code: "not-booted", field: "spec.interfaces", message };
};

/** Removes both files if they are Switchyard's. Rejects with HostError. */
export async function removeAfxdpBoot(files: HostFiles): Promise<void> {
  for (const path of [afxdpBootConfigPath, afxdpBootResultPath]) {
    if (isOwnBootFile((await files.readText(path)) ?? "")) await files.remove(path);
  }
}
