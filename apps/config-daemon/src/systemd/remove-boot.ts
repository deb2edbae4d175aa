// SPDX-License-Identifier: Apache-2.0
/**
 * removeBoot removes what prepare-boot.ts has installed: units, program, configuration and result. VFs stay as they are. A
 * removal that is interrupted is continued by the next call. A MachineConfig's units are not the daemon's.
 * Usage: `await removeBoot(host, log);`
 */
import { bootConfigPath, bootUnits, isOwnBootFile } from "@switchyard/api";
import type { Host } from "@switchyard/host";
import type { Logger } from "@switchyard/service";
import { bootResultPath } from "../boot/boot-result.ts";
import { unitDirectory } from "../upstream/upstream-files.ts";

/** Does nothing on a node that was never in systemd mode. Rejects with HostError. */
export async function removeBoot({ files, bootProgram, systemd }: Host, log: Logger): Promise<void> {
  const isOwn = async (path: string) => isOwnBootFile((await files.readText(path)) ?? "");
  const names = bootUnits.map(({ name }) => name);
  const units: string[] = [];
  for (const name of names) if (await isOwn(`${unitDirectory}/${name}`)) units.push(name);
  if (units.length > 0) {
    log.info({ units }, "removing the units of the systemd mode");
    await systemd.disableUnits(units);
    for (const name of units) await files.remove(`${unitDirectory}/${name}`);
    await systemd.reload();
  }
  if ((await bootProgram.readVersion()) !== undefined) await bootProgram.removeAll();
  for (const path of [bootConfigPath, bootResultPath]) if (await isOwn(path)) await files.remove(path);
}
