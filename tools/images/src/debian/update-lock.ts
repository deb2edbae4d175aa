// SPDX-License-Identifier: Apache-2.0
/**
 * updateLock writes packages.lock.json with the newest versions in Debian's archive. apt checks the signatures of the
 * archive; it runs with directories of its own, so that nothing on the machine changes.
 */
import { createProgress, outputOf } from "@switchyard/testing";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Architecture } from "../app-image.ts";
import { ImagesError } from "../images-error.ts";
import { lockFile, mirror, type DebianLock, type LockedPackage } from "./archive.ts";
import { debianSuite, packageSets } from "./package-sets.ts";

const progress = createProgress({ name: "images" });

const keyring = "/usr/share/keyrings/debian-archive-keyring.gpg";

/** Needs apt-get and Debian's keyring. Rejects with ImagesError. */
export async function updateLock(now: Date): Promise<void> {
  const newest = (architecture: Architecture) =>
    progress.during(`versions in Debian ${debianSuite} for ${architecture}`, () => newestPackages(architecture));
  const packages: DebianLock["packages"] = { amd64: await newest("amd64"), arm64: await newest("arm64") };
  const snapshot = now.toISOString().replaceAll(/[-:]|\.\d+/g, "");
  await writeFile(lockFile, `${JSON.stringify({ snapshot, packages } satisfies DebianLock, undefined, 2)}\n`);
}

async function newestPackages(architecture: Architecture): Promise<Readonly<Record<string, LockedPackage>>> {
  const directory = await mkdtemp(join(tmpdir(), "switchyard-apt-"));
  try {
    const env = { APT_CONFIG: await writeConfiguration(directory, architecture) };
    await outputOf("apt-get", ["update", "-qq"], { env });
    const names = new Set<string>(Object.values(packageSets).flatMap(({ packages }) => [...packages]));
    const records = (await outputOf("apt-cache", ["show", "--no-all-versions", ...names], { env })).trim();
    const entries = records.split("\n\n").map((record) => {
      // Security updates are in an archive of their own. Its paths begin with pool/updates.
      const path = field(record, "Filename");
      const archive = path.startsWith("pool/updates/") ? "debian-security" : "debian";
      const entry = { version: field(record, "Version"), archive, path, sha256: field(record, "SHA256") };
      return [field(record, "Package"), entry] as const;
    });
    return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
  } finally {
    await rm(directory, { recursive: true });
  }
}

/** Returns the name of apt's configuration file. */
async function writeConfiguration(directory: string, architecture: Architecture): Promise<string> {
  for (const name of ["lists/partial", "cache/archives/partial", "none"]) {
    await mkdir(join(directory, name), { recursive: true });
  }
  const source = (archive: string, suite: string) =>
    `deb [signed-by=${keyring}] ${mirror()}/${archive} ${suite} main\n`;
  await writeFile(
    join(directory, "sources.list"),
    source("debian", debianSuite) + source("debian-security", `${debianSuite}-security`),
  );
  await writeFile(join(directory, "status"), "");
  const settings = {
    "Dir::State": directory,
    "Dir::State::status": join(directory, "status"),
    "Dir::State::lists": join(directory, "lists"),
    "Dir::Cache": join(directory, "cache"),
    "Dir::Etc::sourcelist": join(directory, "sources.list"),
    "Dir::Etc::sourceparts": join(directory, "none"),
    "Dir::Etc::preferences": "/dev/null",
    "Dir::Etc::preferencesparts": join(directory, "none"),
    "APT::Architecture": architecture,
    "APT::Architectures": architecture,
    "APT::Sandbox::User": "root",
    "Acquire::Languages": "none",
  };
  const file = join(directory, "apt.conf");
  const lines = Object.entries(settings).map(([name, value]) => `${name} "${value}";\n`);
  await writeFile(file, `#clear APT::Architectures;\n${lines.join("")}`);
  return file;
}

function field(record: string, name: string): string {
  const value = new RegExp(`^${name}: (.+)$`, "m").exec(record)?.[1];
  if (value === undefined) throw new ImagesError("package-unavailable", `apt-cache shows no ${name} in:\n${record}`);
  return value;
}
