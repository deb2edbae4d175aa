// SPDX-License-Identifier: Apache-2.0
/**
 * removeBoot removes what prepare-boot.ts has installed: units, program, configurations and results. VFs stay as they are. A
 * removal that is interrupted is continued by the next call. A MachineConfig's units are not the daemon's.
 */
import { bootConfigPath, bootUnits, isOwnBootFile } from "@switchyard/api";
import type { Host, HostFiles } from "@switchyard/host";
import type { Logger } from "@switchyard/service";
import { bootResultPath } from "../boot-files/boot-result.ts";
import { removeAfxdpBoot } from "./afxdp-boot.ts";
import { unitDirectory } from "../upstream/upstream-files.ts";

/** Does nothing on a node that was never in systemd mode. Rejects with HostError. */
export async function removeBoot(host: Host, log: Logger): Promise<void> {
  const { files, bootProgram } = host;
  const units = await listBootUnits(files);
  if (units.length > 0) log.info({ units }, "removing the units of the systemd mode");
  await removeBootUnits(host, units);
  if ((await bootProgram.readVersion()) !== undefined) await bootProgram.removeAll();
  for (const path of [bootConfigPath, bootResultPath]) if (await isOwn(files, path)) await files.remove(path);
  await removeAfxdpBoot(files);
}

/** Returns the names of the units that the daemon has written. */
export async function listBootUnits(files: HostFiles): Promise<readonly string[]> {
  const units: string[] = [];
  for (const { name } of bootUnits) if (await isOwn(files, `${unitDirectory}/${name}`)) units.push(name);
  return units;
}

/** Disables the units and removes their files. */
export async function removeBootUnits({ files, systemd }: Host, units: readonly string[]): Promise<void> {
  if (units.length === 0) return;
  await systemd.disableUnits(units);
  for (const name of units) await files.remove(`${unitDirectory}/${name}`);
  await systemd.reload();
}

async function isOwn(files: HostFiles, path: string): Promise<boolean> {
  return isOwnBootFile((await files.readText(path)) ?? "");
}
