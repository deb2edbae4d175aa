// SPDX-License-Identifier: Apache-2.0
/**
 * Finds and removes the files that the systemd mode of the Go operator left on the host. These are its units, the
 * program that they start, their files, and helper scripts that no udev rule calls. The units would configure NICs by
 * an old spec at the next boot. Files that are not recognised stay. A removal that is interrupted is continued by the
 * next call.
 */
import { isUpstreamUnit, upstreamUnitProgram, upstreamUnits } from "@switchyard/api";
import type { HostFiles } from "@switchyard/host";
import type { Logger } from "@switchyard/service";
import { findUnusedHelpers } from "./udev-rules.ts";
import { dataFiles, isMachineConfigUnit, unitDirectory, wantsDirectory } from "./upstream-files.ts";

export interface Leftovers {
  /** Files of the Go operator in the order of their removal. Files that identify the others as the Go operator's come last. */
  readonly paths: readonly string[];
  /** Files under the same names that the Go operator did not write. */
  readonly foreign: readonly string[];
}

/** Rejects with HostError if the host refuses to read or remove a file. */
export async function removeUpstreamLeftovers(files: HostFiles, log: Logger): Promise<void> {
  const { paths, foreign } = await findUpstreamLeftovers(files);
  if (foreign.length > 0) log.warn({ paths: foreign }, "files not written by the Go operator; not removed");
  if (paths.length === 0) return;
  log.info({ paths }, "removing files of the Go operator's systemd mode");
  for (const path of paths) await files.remove(path);
}

/** Changes nothing. Rejects with HostError. */
export async function findUpstreamLeftovers(files: HostFiles): Promise<Leftovers> {
  const foreign: string[] = [];
  const data = await filter(dataFiles, async ({ path, isUpstreams }) => {
    if ((await files.readKind(path)) === undefined) return false;
    const text = await files.readText(path);
    const isOfUpstream = text !== undefined && isUpstreams(text);
    if (!isOfUpstream && !isSwitchyards(text)) foreign.push(path);
    return isOfUpstream;
  });

  const units: { readonly name: string; readonly isRemovable: boolean }[] = [];
  for (const name of upstreamUnits) {
    const path = `${unitDirectory}/${name}`;
    if ((await files.readKind(path)) === undefined) continue;
    const text = await files.readText(path);
    if (text !== undefined && isUpstreamUnit(name, text)) units.push({ name, isRemovable: !isMachineConfigUnit(text) });
    else if (!isSwitchyards(text)) foreign.push(path);
  }
  const removable = units.filter(({ isRemovable }) => isRemovable).map(({ name }) => `${unitDirectory}/${name}`);
  const links = await filter(units, async ({ name, isRemovable }) => {
    return isRemovable && (await files.readLink(`${wantsDirectory}/${name}`)) !== undefined;
  });
  const hasProgram = units.length > 0 && (await files.readKind(upstreamUnitProgram)) === "file";
  return {
    paths: [
      ...(hasProgram ? [upstreamUnitProgram] : []),
      ...data.map(({ path }) => path),
      ...links.map(({ name }) => `${wantsDirectory}/${name}`),
      ...removable,
      ...(await findUnusedHelpers(files)),
    ],
    foreign,
  };
}

/** Reports whether Switchyard wrote the file in its own systemd mode. */
function isSwitchyards(text: string | undefined): boolean {
  return text?.startsWith("# Written by the Switchyard ") === true;
}

async function filter<Item>(items: readonly Item[], test: (item: Item) => Promise<boolean>): Promise<readonly Item[]> {
  const kept: Item[] = [];
  for (const item of items) if (await test(item)) kept.push(item);
  return kept;
}
