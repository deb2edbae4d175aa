// SPDX-License-Identifier: Apache-2.0
/**
 * Removes what upstream's systemd mode left on the host, before it can configure NICs at the next boot by a spec of the past:
 * units, the program that they start, its files; and helper scripts that no udev rule calls. What is not recognised stays.
 * Found first and told, then removed; killed anywhere, the next start goes on from there.
 * Usage: `await removeUpstreamLeftovers(host.files, log);`
 */
import { isUpstreamUnit, upstreamUnitProgram, upstreamUnits } from "@switchyard/api";
import { HostError, type HostFiles } from "@switchyard/host";
import type { Logger } from "@switchyard/service";
import { findUnusedHelpers } from "./udev-rules.ts";
import { dataFiles, isMachineConfigUnit, unitDirectory, wantsDirectory } from "./upstream-files.ts";

export interface Leftovers {
  /** Upstream's, in the order in which they are to go: last what shows that the others are upstream's. */
  readonly paths: readonly string[];
  /** Files under the same names that are not. */
  readonly foreign: readonly string[];
}

/** Never rejects for what the host refuses: that is logged, and tried again at the next start. */
export async function removeUpstreamLeftovers(files: HostFiles, log: Logger): Promise<void> {
  try {
    const { paths, foreign } = await findUpstreamLeftovers(files);
    if (foreign.length > 0) log.warn({ paths: foreign }, "not written by the Go operator; left alone");
    if (paths.length === 0) return;
    log.info({ paths }, "removing what the Go operator's systemd mode left");
    for (const path of paths) await files.remove(path);
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
    const what =
      "what the Go operator's systemd mode left could not be removed, and may configure NICs at the next boot";
    log.error({ error }, what);
  }
}

/** Reads only. Rejects with HostError. */
export async function findUpstreamLeftovers(files: HostFiles): Promise<Leftovers> {
  const foreign: string[] = [];
  const data = await filter(dataFiles, async ({ path, isUpstreams }) => {
    if ((await files.readKind(path)) === undefined) return false;
    const text = await files.readText(path);
    const is = text !== undefined && isUpstreams(text);
    if (!is) foreign.push(path);
    return is;
  });

  const units: { readonly name: string; readonly isRemovable: boolean }[] = [];
  for (const name of upstreamUnits) {
    const path = `${unitDirectory}/${name}`;
    if ((await files.readKind(path)) === undefined) continue;
    const text = await files.readText(path);
    if (text !== undefined && isUpstreamUnit(name, text)) units.push({ name, isRemovable: !isMachineConfigUnit(text) });
    else foreign.push(path);
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

async function filter<Item>(items: readonly Item[], test: (item: Item) => Promise<boolean>): Promise<readonly Item[]> {
  const kept: Item[] = [];
  for (const item of items) if (await test(item)) kept.push(item);
  return kept;
}
