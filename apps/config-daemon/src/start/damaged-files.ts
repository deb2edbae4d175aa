// SPDX-License-Identifier: Apache-2.0
/**
 * findDamagedFiles names the daemon's own files that are not JSON: after a power loss, on a disk that was full, or written by another
 * program. Such a file counts as absent, and the daemon writes it again when it has something to record.
 * Usage: `for (const file of await findDamagedFiles(host.files)) log.warn(file, "file is not JSON; not used");`
 */
import { HostError, type HostFiles } from "@switchyard/host";
import { rebootFile } from "@switchyard/plan";
import { kernelArgumentsFile } from "../files/boot-records.ts";
import { hostOvsRecord } from "../files/host-ovs-files.ts";
import { guardFile } from "../guard/guard-record.ts";
import { knownNicsPath } from "../virtual/known-nics.ts";

/** The files, with what is forgotten with them. The records of PFs and of AF_XDP devices are named by who reads them. */
const jsonFiles: Readonly<Record<string, string>> = {
  [rebootFile]: "the causes of the last reboot",
  [kernelArgumentsFile]: "the kernel arguments that the daemon has added",
  [hostOvsRecord]: "the files by which Open vSwitch is disabled",
  [guardFile]: "a change that the daemon was about to undo",
  [knownNicsPath]: "the NICs of a virtual platform",
};

export interface DamagedFile {
  readonly path: string;
  readonly forgotten: string;
  /** Why the file is not used. */
  readonly reason: string;
}

/** Never rejects because of one file. */
export async function findDamagedFiles(files: Pick<HostFiles, "readText">): Promise<readonly DamagedFile[]> {
  const found = await Promise.all(
    Object.entries(jsonFiles).map(async ([path, forgotten]): Promise<DamagedFile | undefined> => {
      try {
        const text = await files.readText(path);
        if (text !== undefined) JSON.parse(text);
        return undefined;
      } catch (error) {
        if (!(error instanceof SyntaxError) && !(error instanceof HostError)) throw error;
        return { path, forgotten, reason: error.message.slice(0, 200) };
      }
    }),
  );
  return found.filter((file) => file !== undefined);
}
