// SPDX-License-Identifier: Apache-2.0
/**
 * createClaimFiles keeps what is known about prepared claims: one CDI specification for each claim, in /run/cdi of the host. The files and
 * the kernel are the whole state of the driver. A reboot removes the files together with the VFs, and the kubelet then prepares again.
 */
import type { HostFiles } from "@switchyard/host";
import {
  cdiDirectory,
  claimSpecFile,
  isClaimSpecFile,
  parseClaimSpec,
  renderClaimSpec,
  type ClaimRecord,
  type ClaimSpec,
} from "@switchyard/render";

/** All methods reject with HostError. */
export interface ClaimFiles {
  /** Returns the records of all claims. A file that is not a record is left out. */
  list(): Promise<readonly ClaimRecord[]>;
  /** Returns undefined if the claim has no record. */
  read(uid: string): Promise<ClaimRecord | undefined>;
  /** Replaces the file of the claim atomically. Throws RangeError if the uid is not one. */
  write(spec: ClaimSpec): Promise<void>;
  /** Removes the file of the claim. No error if it does not exist. */
  remove(uid: string): Promise<void>;
}

export function createClaimFiles(files: HostFiles): ClaimFiles {
  async function readFile(name: string): Promise<ClaimRecord | undefined> {
    const text = await files.readText(`${cdiDirectory}/${name}`);
    return text === undefined ? undefined : parseClaimSpec(text);
  }

  return {
    async list() {
      const names = (await files.listNames(cdiDirectory)).filter(isClaimSpecFile);
      const records = await Promise.all(names.map(readFile));
      return records.filter((record) => record !== undefined);
    },
    read(uid) {
      const name = claimSpecFile(uid);
      return name === undefined ? Promise.resolve(undefined) : readFile(name);
    },
    write: (spec) => files.writeText(pathOf(spec.uid), renderClaimSpec(spec)),
    remove: (uid) => files.remove(pathOf(uid)),
  };
}

function pathOf(uid: string): string {
  const name = claimSpecFile(uid);
  if (name === undefined) throw new RangeError(`"${uid.slice(0, 64)}" is not the uid of an object`);
  return `${cdiDirectory}/${name}`;
}
