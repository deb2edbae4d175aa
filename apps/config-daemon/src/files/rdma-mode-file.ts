// SPDX-License-Identifier: Apache-2.0
/**
 * Reads and writes the options of module ib_core, /etc/modprobe.d/sriov_network_operator_modules_config.conf
 * (sriov-operator.md F.5, F.7). A file of the Go operator, which has the same path, is treated as Switchyard's. A file with
 * any other content is never changed.
 */
import { HostError, type HostFiles, type RdmaMode } from "@switchyard/host";

/**
 * The mode that the kernel refused since it was started. The directory does not survive a boot.
 */
const refusalPath = "/run/switchyard-rdma/refused-mode";

const path = "/etc/modprobe.d/sriov_network_operator_modules_config.conf";
const header = "# Written by Switchyard for spec.rdmaMode of a SriovNetworkPoolConfig. Changes are overwritten.\n";

/** Of any version of Switchyard, with the record of the initial mode. */
const ownHeader = /^# Written by Switchyard [^\n]*\n(?:# Initial mode: (shared|exclusive)\n)?/;

/** Of the Go operator from 1.5 on (sriov-operator.md F.7). */
const upstreamHeader = /^# This file is managed by sriov-network-operator do not edit\.\n/;

/** ib_core.netns_mode: 1 is shared. */
const values = { exclusive: 0, shared: 1 } as const;

/** Returns undefined if there is no file, and "foreign" if neither Switchyard nor the Go operator wrote it. */
export async function readPersistentRdmaMode(
  files: Pick<HostFiles, "readKind" | "readText">,
): Promise<RdmaMode | "foreign" | undefined> {
  if ((await files.readKind(path)) === undefined) return undefined; // the usual case
  const option = (await files.readText(path))?.replace(ownHeader, "").replace(upstreamHeader, "");
  return (["exclusive", "shared"] as const).find((mode) => option === optionOf(mode)) ?? "foreign";
}

/** Returns the mode that the node had before Switchyard wrote the file; undefined if the file does not record it. */
export async function readInitialRdmaMode(
  files: Pick<HostFiles, "readKind" | "readText">,
): Promise<RdmaMode | undefined> {
  if ((await files.readKind(path)) === undefined) return undefined;
  const [, mode] = ownHeader.exec((await files.readText(path)) ?? "") ?? [];
  return mode === "shared" || mode === "exclusive" ? mode : undefined;
}

/**
 * Writes the mode and the record of the initial mode, or removes the file if `mode` is undefined. Rejects with HostError EEXIST
 * if the file is foreign.
 */
export async function writePersistentRdmaMode(
  files: HostFiles,
  mode: RdmaMode | undefined,
  initial: RdmaMode | undefined,
): Promise<void> {
  if ((await readPersistentRdmaMode(files)) === "foreign") {
    const words = "it has content that Switchyard did not write";
    throw new HostError({ action: mode === undefined ? "remove" : "write", target: path }, "EEXIST", { words });
  }
  if (mode === undefined) await files.remove(path);
  else
    await files.writeText(
      path,
      `${header}${initial === undefined ? "" : `# Initial mode: ${initial}\n`}${optionOf(mode)}`,
    );
}

/** Returns the mode that writeRefusedRdmaMode recorded in this boot. */
export async function readRefusedRdmaMode(files: Pick<HostFiles, "readText">): Promise<RdmaMode | undefined> {
  const text = (await files.readText(refusalPath))?.trim();
  return text === "shared" || text === "exclusive" ? text : undefined;
}

export async function writeRefusedRdmaMode(files: Pick<HostFiles, "writeText">, mode: RdmaMode): Promise<void> {
  await files.writeText(refusalPath, `${mode}\n`);
}

/** The content of the file without a header. */
function optionOf(mode: RdmaMode): string {
  return `options ib_core netns_mode=${values[mode]}\n`;
}
