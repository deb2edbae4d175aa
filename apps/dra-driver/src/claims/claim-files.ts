// SPDX-License-Identifier: Apache-2.0
/**
 * createClaimFiles keeps what is known about prepared claims: one CDI specification for each claim, in /run/cdi of the host. The files and
 * the kernel are the whole state of the driver. A reboot removes the files together with the VFs, and the kubelet then prepares again.
 */
import { HostError, type HostFiles } from "@switchyard/host";
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
  /** Returns the records of all claims, and the names of files that are not records or cannot be read. */
  list(): Promise<{ readonly records: readonly ClaimRecord[]; readonly unreadable: readonly string[] }>;
  /** Returns undefined if the claim has no file, and "unreadable" if its file is not a record or cannot be read. */
  read(uid: string): Promise<ClaimRecord | "unreadable" | undefined>;
  /** Replaces the file of the claim atomically. Throws RangeError if the uid is not one. */
  write(spec: ClaimSpec): Promise<void>;
  /** Removes the file of the claim. No error if it does not exist. */
  remove(uid: string): Promise<void>;
}

export function createClaimFiles(files: HostFiles): ClaimFiles {
  async function readFile(name: string): Promise<ClaimRecord | "unreadable" | undefined> {
    try {
      const text = await files.readText(`${cdiDirectory}/${name}`);
      return text === undefined ? undefined : (parseClaimSpec(text) ?? "unreadable");
    } catch (error) {
      if (!(error instanceof HostError)) throw error;
      return "unreadable";
    }
  }

  return {
    async list() {
      const names = (await files.listNames(cdiDirectory)).filter(isClaimSpecFile);
      const found = await Promise.all(names.map(readFile));
      return {
        records: found.filter((record) => record !== undefined && record !== "unreadable"),
        unreadable: names.filter((_, nth) => found[nth] === "unreadable"),
      };
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
