// SPDX-License-Identifier: Apache-2.0
/**
 * createBootPreparation prepares the next boot of a node in systemd mode: it writes the configuration, installs the program,
 * and writes and enables the units (sriov-operator.md F.7, F.9, F.11). Each of them replaces the Go operator's atomically.
 * It is level-based: a preparation that is killed is completed by the next one.
 */
import {
  bootConfigPath,
  bootUnits,
  isOwnBootFile,
  isUpstreamUnit,
  upstreamUnitProgram,
  type SriovNetworkNodeStateSpec,
} from "@switchyard/api";
import type { Host, ProgramVersion } from "@switchyard/host";
import type { Logger } from "@switchyard/service";
import { digestOf, formatBootConfig, parseBootConfig } from "../boot-files/boot-config.ts";
import { bootResultPath, parseBootResult, type BootResult } from "../boot-files/boot-result.ts";
import type { Observation } from "../observe/observe.ts";
import { unitDirectory } from "../upstream/upstream-files.ts";
import { removeUpstreamLeftovers } from "../upstream/upstream-leftovers.ts";
import { hostNetworkAtBoot, type HostNetworkAtBoot } from "./host-network-at-boot.ts";

export interface BootPreparationDeps {
  /** Lists the files of the program. */
  readonly program: () => Promise<ProgramVersion>;
  readonly maxPfs: number;
  /** Address of the database of Open vSwitch. If absent, software bridges are not managed. */
  readonly ovsdbAddress?: string | undefined;
  /** Returns the IP addresses of the API server; empty if they are not known now. */
  readonly apiServerAddresses: () => Promise<readonly string[]>;
  /** Whether a MachineConfig installs the units (OpenShift), and not the daemon. */
  readonly unitsFromMachineConfig: boolean;
  readonly log: Logger;
}

/** What the next boot will do, and what the last one did. */
export interface PreparedBoot {
  readonly configDigest: string;
  /** The result of the last boot in systemd mode; undefined if there is none. */
  readonly result: BootResult | undefined;
  /** Why the units will not run at the next boot; undefined if they will. */
  readonly obstacle: string | undefined;
}

/** `found` is undefined if the host cannot be read. Rejects with HostError. */
export type PrepareBoot = (
  host: Host,
  desired: SriovNetworkNodeStateSpec,
  found: Observation | undefined,
) => Promise<PreparedBoot>;

export function createBootPreparation(deps: BootPreparationDeps): PrepareBoot {
  let installed: ProgramVersion | undefined;

  return async function prepareBoot(host, desired, found) {
    const { files } = host;
    const { maxPfs, ovsdbAddress } = deps;
    const before = await files.readText(bootConfigPath);
    const { hostUse, apiServerAddresses } = hostNetworkAtBoot(
      found,
      await deps.apiServerAddresses(),
      await readHostNetworkAtBoot(before),
    );
    const config = formatBootConfig({ spec: desired, maxPfs, ovsdbAddress, hostUse, apiServerAddresses });
    if (before !== config) await files.writeText(bootConfigPath, config);
    installed ??= await deps.program();
    if ((await host.bootProgram.readVersion()) !== installed.id) await host.bootProgram.install(installed);
    const obstacle = deps.unitsFromMachineConfig ? await findUnits(host) : await writeUnits(host);
    if (obstacle === undefined) await removeUpstreams(host, deps.log);
    const result = parseBootResult((await files.readText(bootResultPath)) ?? "");
    return { configDigest: digestOf(config), result, obstacle };
  };
}

/** A file that cannot be read knows nothing about the host. */
async function readHostNetworkAtBoot(text: string | undefined): Promise<HostNetworkAtBoot> {
  const parsed = text === undefined ? undefined : await parseBootConfig(text);
  return parsed?.ok === true ? parsed.value : { hostUse: {}, apiServerAddresses: [] };
}

/** Returns a sentence if an administrator's unit has one of the names. */
async function writeUnits({ files, systemd }: Host): Promise<string | undefined> {
  let isChanged = false;
  for (const { name, text } of bootUnits) {
    const path = `${unitDirectory}/${name}`;
    const present = await files.readText(path);
    if (present === text) continue;
    const isReplaceable =
      present === undefined
        ? (await files.readKind(path)) === undefined
        : isOwnBootFile(present) || isUpstreamUnit(name, present);
    if (!isReplaceable) return `${path} was not written by Switchyard; remove it to let the node boot in systemd mode`;
    await files.writeText(path, text);
    isChanged = true;
  }
  if (isChanged) await systemd.reload();
  for (const { name } of bootUnits) {
    if ((await systemd.readUnit(name)).unitFileState !== "enabled") await systemd.enableUnits([name]);
  }
  return undefined;
}

async function findUnits({ systemd }: Host): Promise<string | undefined> {
  for (const { name } of bootUnits) {
    const { unitFileState } = await systemd.readUnit(name);
    if (unitFileState === "enabled") continue;
    return `unit ${name} is not enabled yet; the Machine Config Operator installs it and reboots the node`;
  }
  return undefined;
}

/** The Go operator's program is not used any more, since no unit of its starts it. */
async function removeUpstreams({ files }: Host, log: Logger): Promise<void> {
  if ((await files.readKind(upstreamUnitProgram)) === "file") await files.remove(upstreamUnitProgram);
  await removeUpstreamLeftovers(files, log);
}
