// SPDX-License-Identifier: Apache-2.0
/**
 * What the program mstprivhost needs and prints (smartnic.md 7.5). It is a script that calls other programs of mstflint.
 * In the versions 4.20 to 4.25 it calls them by the names that they have in the vendor's package MFT, so it finds none of
 * them and ends with "-E- Unknown device".
 */
import { promises as fs } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { HostPrivilege } from "../../ports/firmware.ts";
import { systemPath } from "../system/run-program.ts";

/** Names in the package MFT, and the programs of mstflint that do the same. */
const otherNames = { mlxconfig: "mstconfig", mlxreg: "mstreg", mcra: "mstmcra" } as const;

let directory: Promise<string> | undefined;

/**
 * Returns the directories of programs with one more at the end, which has the programs of mstflint under their other names.
 * It is created once. Rejects with an error of Node if it cannot be created.
 */
export async function pathForMstprivhost(programPath = systemPath): Promise<string> {
  directory ??= createDirectory().catch((error: unknown) => {
    directory = undefined;
    throw error;
  });
  return `${programPath}:${await directory}`;
}

async function createDirectory(): Promise<string> {
  const created = await fs.mkdtemp(join(tmpdir(), "switchyard-mstflint-"));
  for (const [name, program] of Object.entries(otherNames)) {
    await fs.writeFile(join(created, name), `#!/bin/sh\nexec ${program} "$@"\n`, { mode: 0o755 });
  }
  return created;
}

/** Returns the level of this host; undefined if the text has none. */
export function parsePrivilege(text: string): HostPrivilege | undefined {
  const level = /^level\s*:\s*(PRIVILEGED|RESTRICTED)\s*$/m.exec(text)?.[1];
  if (level === undefined) return undefined;
  return level === "RESTRICTED" ? "restricted" : "privileged";
}
