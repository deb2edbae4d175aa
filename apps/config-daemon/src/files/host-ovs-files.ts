// SPDX-License-Identifier: Apache-2.0
/**
 * The files by which the daemon disables Open vSwitch on a host without MachineConfigs: units, drop-ins, and the udev rule of
 * the management port. Their content is that of the MachineConfig on OpenShift, with a header that marks them as the daemon's.
 * A file without it is never changed. The record names the files of the last write, which another release may have made.
 * Usage: `const { own, complete, foreign } = await readHostOvsFiles(host.files);`
 */
import type { Host, HostFiles } from "@switchyard/host";
import { isRecord } from "@switchyard/kube";
import { ovnOffloadFiles, ovnOffloadUnits } from "@switchyard/render";
import { isTexts, readJsonFile, writeJsonFile } from "./json-file.ts";

/** Record of the files and units of the last write. */
export const hostOvsRecord = "/etc/sriov-operator/host-ovs.json";

/** Whether Open vSwitch was disabled when the host booted; written before the first change of a boot. /run does not survive it. */
const bootedPath = "/run/switchyard-host-ovs/booted";

const header =
  "# Written by the config daemon of Switchyard, because OVN runs on the SmartNIC. Changes are overwritten.\n";

/** Of any version of Switchyard; after the first line of a script. */
const ownHeader = /^(?:#![^\n]*\n)?# Written by the config daemon of Switchyard\b/;

export interface HostOvsFile {
  readonly path: string;
  /** With the header. */
  readonly text: string;
  /** Without the header, as in a MachineConfig. */
  readonly plainText: string;
  readonly executable: boolean;
}

export interface HostOvsRecord {
  readonly paths: readonly string[];
  /** Names of the units that are enabled. */
  readonly units: readonly string[];
  /** Whether the write has ended. */
  readonly complete: boolean;
}

/** The files of this release, with the header. */
export function hostOvsFiles(): readonly HostOvsFile[] {
  const units = ovnOffloadUnits().flatMap(({ name, contents, dropins = [] }) => [
    ...(contents === undefined ? [] : [{ path: `${unitDirectory}/${name}`, text: contents }]),
    ...dropins.map((dropin) => ({ path: `${unitDirectory}/${name}.d/${dropin.name}`, text: dropin.contents })),
  ]);
  const others = ovnOffloadFiles().map(({ path, mode, text }) => ({ path, text, executable: (mode & 0o111) !== 0 }));
  return [...units.map((unit) => ({ ...unit, executable: false })), ...others].map((file) => ({
    ...file,
    text: withHeader(file.text),
    plainText: file.text,
  }));
}

/** Names of the units that start at boot. */
export function enabledUnits(): readonly string[] {
  return ovnOffloadUnits().flatMap(({ name, enabled, contents }) =>
    enabled === true && contents !== undefined ? [name] : [],
  );
}

const unitDirectory = "/etc/systemd/system";

function withHeader(text: string): string {
  const [script = ""] = /^#![^\n]*\n/.exec(text) ?? [];
  return script + header + text.slice(script.length);
}

/** State of one file; "equal" if somebody else, such as a MachineConfig, has written the same content. */
export type HostOvsFileState = "missing" | "current" | "equal" | "outdated" | "foreign";

/** Returns the state of the file. Rejects with HostError. */
export async function stateOf(files: HostFiles, { path, text, plainText }: HostOvsFile): Promise<HostOvsFileState> {
  const present = await files.readText(path);
  if (present === undefined) return (await files.readKind(path)) === undefined ? "missing" : "foreign";
  if (present === text) return "current";
  if (present === plainText) return "equal";
  return ownHeader.test(present) ? "outdated" : "foreign";
}

/** Returns the paths of the daemon's files, also those of an earlier release. Rejects with HostError. */
export async function listOwnFiles(files: HostFiles): Promise<readonly string[]> {
  const recorded = (await readHostOvsRecord(files))?.paths ?? [];
  const own: string[] = [];
  for (const path of new Set([...recorded, ...hostOvsFiles().map((file) => file.path)])) {
    if (ownHeader.test((await files.readText(path)) ?? "")) own.push(path);
  }
  return own;
}

export interface HostOvsObservation {
  /** Number of the daemon's files, including the record. */
  readonly own: number;
  readonly complete: boolean;
  readonly foreign: readonly string[];
  /** Whether Open vSwitch was disabled when the host booted. */
  readonly isDisabled: boolean;
}

/** Rejects with HostError. */
export async function readHostOvsFiles(files: HostFiles): Promise<HostOvsObservation> {
  const record = await readHostOvsRecord(files);
  const own = await listOwnFiles(files);
  const wanted = hostOvsFiles();
  const foreign: string[] = [];
  let [current, equal] = [0, 0];
  for (const file of wanted) {
    const state = await stateOf(files, file);
    if (state === "foreign") foreign.push(file.path);
    if (state === "current") current += 1;
    if (state === "equal") equal += 1;
  }
  const booted = (await files.readText(bootedPath))?.trim();
  const isWritten = record?.complete === true && own.length + equal > 0;
  return {
    ...{ own: own.length + (record === undefined ? 0 : 1), foreign },
    complete: isWritten && current + equal === wanted.length && own.length === current,
    isDisabled: booted === undefined ? isWritten : booted === "disabled",
  };
}

/** Must be called before a change. The first call in a boot counts. Rejects with HostError. */
export async function rememberBooted(files: HostFiles): Promise<void> {
  if ((await files.readText(bootedPath)) !== undefined) return;
  const { isDisabled } = await readHostOvsFiles(files);
  await files.writeText(bootedPath, isDisabled ? "disabled\n" : "enabled\n");
}

/** Returns undefined if there is no record. */
export async function readHostOvsRecord(files: Pick<HostFiles, "readText">): Promise<HostOvsRecord | undefined> {
  const value = await readJsonFile(files, hostOvsRecord);
  if (!isRecord(value)) return undefined;
  const { paths, units, complete } = value;
  return isTexts(paths) && isTexts(units) ? { paths, units, complete: complete === true } : undefined;
}

export async function writeHostOvsRecord(files: Host["files"], record: HostOvsRecord): Promise<void> {
  await writeJsonFile(files, hostOvsRecord, record);
}
