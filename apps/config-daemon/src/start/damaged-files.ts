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

/** The records of PFs and of AF_XDP devices are named by who reads them. */
const files: readonly string[] = [rebootFile, kernelArgumentsFile, hostOvsRecord, guardFile, knownNicsPath];

export interface DamagedFile {
  readonly path: string;
  /** Why the file is not used. */
  readonly reason: string;
}

/** Never rejects because of one file. */
export async function findDamagedFiles({ readText }: Pick<HostFiles, "readText">): Promise<readonly DamagedFile[]> {
  const found = await Promise.all(
    files.map(async (path): Promise<DamagedFile | undefined> => {
      try {
        const text = await readText(path);
        if (text !== undefined) JSON.parse(text);
        return undefined;
      } catch (error) {
        if (!(error instanceof SyntaxError) && !(error instanceof HostError)) throw error;
        return { path, reason: error.message.slice(0, 200) };
      }
    }),
  );
  return found.filter((file) => file !== undefined);
}
