// SPDX-License-Identifier: Apache-2.0
/**
 * Finds the programs of Open vSwitch: those that are installed, else those of Debian's packages, unpacked into the cache
 * without installing them.
 * Usage: `const programs = await ensureOpenVswitch(); spawn(join(programs.sbin, "ovsdb-server"), args, { env: programs.env })`
 */
import { execFile } from "node:child_process";
import { access, constants, mkdir, mkdtemp, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { withFileLock } from "../programs/file-lock.ts";
import { cachePath } from "../programs/user-cache.ts";
import { createProgress, writeToStderr, type WriteLine } from "../progress.ts";
import { TestingError } from "../testing-error.ts";

/** Where the programs are, and the environment in which they find their libraries. */
export interface OpenVswitchPrograms {
  /** Has ovs-vsctl, ovsdb-client and ovsdb-tool. */
  readonly bin: string;
  /** Has ovsdb-server and ovs-vswitchd. */
  readonly sbin: string;
  /** The schema of the database Open_vSwitch. */
  readonly schema: string;
  readonly env: NodeJS.ProcessEnv;
}

export interface EnsureOpenVswitchOptions {
  readonly progress?: WriteLine;
  readonly env?: NodeJS.ProcessEnv;
}

/** The packages of Debian 12 that have the programs, and those libraries that a small installation may lack. */
const packages = [
  ...["openvswitch-common", "openvswitch-switch"],
  ...["libbpf1", "libcap-ng0", "libevent-2.1-7", "libnuma1", "libunbound8", "libxdp1"],
];

/** Rejects with TestingError `open-vswitch`, whose message says what to install. */
export async function ensureOpenVswitch(options: EnsureOpenVswitchOptions = {}): Promise<OpenVswitchPrograms> {
  const { progress = writeToStderr, env = process.env } = options;
  const cache = cachePath("open-vswitch", env);
  const found = (await programsUnder("/", env)) ?? (await programsUnder(join(cache, "root"), env));
  if (found !== undefined) return found;

  await mkdir(cache, { recursive: true });
  const onWait = (): void => {
    progress(`waiting for another process that fills ${cache}`);
  };
  await withFileLock(join(cache, "lock"), { onWait }, async () => {
    if ((await programsUnder(join(cache, "root"), env)) !== undefined) return;
    await createProgress({ write: progress }).during("Debian packages of Open vSwitch", () => unpackPackages(cache));
  });
  const unpacked = await programsUnder(join(cache, "root"), env);
  if (unpacked !== undefined) return unpacked;
  throw missing("the Debian packages do not have its programs");
}

/** The programs below a root directory, if all are there and start. */
async function programsUnder(root: string, env: NodeJS.ProcessEnv): Promise<OpenVswitchPrograms | undefined> {
  const [bin, sbin] = [join(root, "usr/bin"), join(root, "usr/sbin")];
  const schema = join(root, "usr/share/openvswitch/vswitch.ovsschema");
  const files = [join(bin, "ovsdb-tool"), join(bin, "ovs-vsctl"), join(sbin, "ovsdb-server"), schema];
  // Debian's ovs-vswitchd is a link that the package's installation makes.
  const daemon = [join(sbin, "ovs-vswitchd"), join(root, "usr/lib/openvswitch-switch/ovs-vswitchd")];
  try {
    await Promise.all(files.map((file) => access(file, constants.R_OK)));
    await Promise.any(daemon.map((file) => access(file, constants.X_OK)));
    const libraries = root === "/" ? {} : { LD_LIBRARY_PATH: await libraryPath(root) };
    const programs = { bin, sbin, schema, env: { ...env, ...libraries } };
    await promisify(execFile)(join(sbin, "ovsdb-server"), ["--version"], { env: programs.env });
    return programs;
  } catch {
    return undefined;
  }
}

/** /usr/lib/<architecture> below `root`. */
async function libraryPath(root: string): Promise<string> {
  const lib = join(root, "usr/lib");
  const architectures = (await readdir(lib)).filter((name) => name.endsWith("-linux-gnu"));
  return architectures.map((name) => join(lib, name)).join(":");
}

async function unpackPackages(cache: string): Promise<void> {
  const work = await mkdtemp(join(cache, ".unpacking-"));
  const run = (file: string, ...args: readonly string[]) => promisify(execFile)(file, args, { cwd: work });
  try {
    // Without package lists apt knows no package; only root can fetch them.
    if (process.geteuid?.() === 0) await run("apt-get", "update", "-qq").catch(() => undefined);
    await run("apt-get", "download", "-qq", ...packages);
    const root = join(work, "root");
    for (const name of await readdir(work)) if (name.endsWith(".deb")) await run("dpkg-deb", "-x", name, root);
    await linkDaemon(root);
    await rm(join(cache, "root"), { recursive: true, force: true });
    await rename(root, join(cache, "root"));
  } catch (cause) {
    throw missing(String((cause as { stderr?: unknown }).stderr ?? cause), cause);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

/** What the installation of openvswitch-switch does by update-alternatives. */
async function linkDaemon(root: string): Promise<void> {
  const from = join(root, "usr/lib/openvswitch-switch/ovs-vswitchd");
  const isThere = await access(from).then(
    () => true,
    () => false,
  );
  if (isThere) await rename(from, join(root, "usr/sbin/ovs-vswitchd"));
}

function missing(why: string, cause?: unknown): TestingError {
  const advice = "install the package openvswitch-switch, or run as root on Debian 12 or 13";
  return new TestingError("open-vswitch", `Open vSwitch is needed and cannot be had: ${why.trim()}; ${advice}`, {
    cause,
  });
}
