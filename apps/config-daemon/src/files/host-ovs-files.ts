// SPDX-License-Identifier: Apache-2.0
/**
 * The files by which the daemon disables Open vSwitch on a host without MachineConfigs: units, drop-ins, and the udev rule of
 * the management port. Their content is that of the MachineConfig on OpenShift, with a header that marks them as the daemon's.
 * A file without it is never changed. The record names the files of the last write, which another release may have made.
 */
import type { Host, HostFiles } from "@switchyard/host";
import { isRecord } from "@switchyard/kube";
import { ovnOffloadFiles, ovnOffloadUnits } from "@switchyard/render";
import { basename, dirname } from "node:path";
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
  made ??= makeFiles();
  return made;
}

let made: readonly HostOvsFile[] | undefined;

function makeFiles(): readonly HostOvsFile[] {
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

/** The files that the host has now. */
export interface PresentHostOvsFiles {
  readonly stateOf: (file: HostOvsFile) => HostOvsFileState;
  /** Paths of the daemon's files, also those of an earlier release. */
  readonly own: readonly string[];
}

/** Reads the files of this release and of the record. Rejects with HostError. */
export async function readPresentFiles(
  files: HostFiles,
  record: HostOvsRecord | undefined,
): Promise<PresentHostOvsFiles> {
  const paths = new Set([...(record?.paths ?? []), ...hostOvsFiles().map((file) => file.path)]);
  const texts = new Map<string, string | undefined>(); // undefined for what is no text
  for (const path of await existing(files, paths)) {
    const text = await files.readText(path);
    if (text !== undefined || (await files.readKind(path)) !== undefined) texts.set(path, text);
  }
  return {
    stateOf({ path, text, plainText }) {
      if (!texts.has(path)) return "missing";
      const present = texts.get(path);
      if (present === text) return "current";
      if (present === plainText) return "equal";
      return ownHeader.test(present ?? "") ? "outdated" : "foreign";
    },
    own: [...texts].flatMap(([path, text]) => (ownHeader.test(text ?? "") ? [path] : [])),
  };
}

/** Returns the paths at which something exists. Most hosts have none of the files, and few directories say so for all of them. */
async function existing(files: HostFiles, paths: Iterable<string>): Promise<readonly string[]> {
  const listed = new Map<string, ReadonlySet<string>>();
  async function isListed(path: string): Promise<boolean> {
    const directory = dirname(path);
    const names = listed.get(directory) ?? new Set(await files.listNames(directory));
    listed.set(directory, names);
    return names.has(basename(path));
  }
  const found: string[] = [];
  for (const path of paths) {
    const isDropin = dirname(path).endsWith(".d"); // each unit has a directory of its own
    if ((!isDropin || (await isListed(dirname(path)))) && (await isListed(path))) found.push(path);
  }
  return found;
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
  const { own, stateOf } = await readPresentFiles(files, record);
  const wanted = hostOvsFiles();
  const foreign: string[] = [];
  let [current, equal] = [0, 0];
  for (const file of wanted) {
    const state = stateOf(file);
    if (state === "foreign") foreign.push(file.path);
    if (state === "current") current += 1;
    if (state === "equal") equal += 1;
  }
  const booted = (await files.readText(bootedPath))?.trim();
  const isWritten = record?.complete === true && own.length + equal > 0;
  return {
    own: own.length + (record === undefined ? 0 : 1),
    foreign,
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

const pidFile = "/run/openvswitch/ovs-vswitchd.pid";

/**
 * The mark of hardware offload says which process of ovs-vswitchd was running when Switchyard configured hardware offload.
 * As long as this process runs, it must be restarted.
 * The mark if the process of ovs-vswitchd is not known. It never needs a restart.
 */
export const unknownProcess = "unknown";

/** Returns the mark of the process that runs now: "BOOT_ID/PID"; undefined if it is not known. Rejects with HostError. */
export async function readOffloadMark({ files, boot }: Pick<Host, "files" | "boot">): Promise<string | undefined> {
  const pid = /^(\d{1,10})\s*$/.exec((await files.readText(pidFile)) ?? "")?.[1];
  return pid === undefined ? undefined : `${await boot.readBootId()}/${pid}`;
}
