// SPDX-License-Identifier: Apache-2.0
/**
 * stateDirectory is the kind of --state-directory. The daemon notes its directory below /run, where `config-daemon cleanup` of an
 * uninstallation finds it.
 */
import { defaultStateDirectory, HostError, type HostFiles } from "@switchyard/host";
import type { FlagKind } from "@switchyard/service";

const notePath = "/run/switchyard/state-directory";

export const stateDirectory: FlagKind<string> = {
  placeholder: "DIR",
  expected: 'an absolute path with at least two parts, such as "/var/lib/sriov-operator"',
  parse: (text) => (/^(?:\/[A-Za-z0-9_-][A-Za-z0-9._-]*){2,}$/.test(text) ? text : undefined),
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
    return stateDirectory.parse(((await files.readText(notePath)) ?? "").trim());
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
    return undefined;
  }
}
