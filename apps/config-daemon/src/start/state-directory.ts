// SPDX-License-Identifier: Apache-2.0
/**
 * stateDirectoryKind is the kind of --state-directory. The daemon notes its directory below /run, where `config-daemon cleanup` of an
 * uninstallation finds it.
 */
import { defaultStateDirectory, HostError, type HostFiles } from "@switchyard/host";
import { stateDirectory } from "@switchyard/policy";
import type { FlagKind } from "@switchyard/service";

const notePath = "/run/switchyard/state-directory";

export const stateDirectoryKind: FlagKind<string> = {
  placeholder: "DIR",
  expected: stateDirectory.expected,
  parse: (text) => (stateDirectory.isValid(text) ? text : undefined),
};

/** Notes the directory for a later cleanup. Rejects with HostError. */
export async function noteStateDirectory(
  files: Pick<HostFiles, "writeText" | "readText" | "remove">,
  directory: string,
): Promise<void> {
  if (directory !== defaultStateDirectory) await files.writeText(notePath, `${directory}\n`);
  else if ((await files.readText(notePath)) !== undefined) await files.remove(notePath);
}

/** Returns the directory that the daemon of this boot has noted; undefined if it has the default one. */
export async function readStateDirectory(files: Pick<HostFiles, "readText">): Promise<string | undefined> {
  try {
    return stateDirectoryKind.parse(((await files.readText(notePath)) ?? "").trim());
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
    return undefined;
  }
}
