// SPDX-License-Identifier: Apache-2.0
/**
 * ensurePrograms ensures that the programs of this machine that tests, benchmarks and demos run are installed before
 * they start. As root on Debian and Ubuntu it installs the packages. Elsewhere it says what is missing.
 * Usage: `await ensurePrograms(["busybox", "mke2fs"]);`
 */
import { execFile } from "node:child_process";
import { access, constants } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { createProgress, writeToStderr, type WriteLine } from "../progress.ts";
import { TestingError } from "../testing-error.ts";

/**
 * Programs and, with an absolute path, header files, with the Debian packages that have them. What Node's own commands, a shell,
 * coreutils and tar need is on every machine.
 */
export const debianPackages = {
  "/usr/include/bpf/libbpf.h": "libbpf-dev",
  "/usr/include/openssl/ssl.h": "libssl-dev",
  buildah: "buildah",
  busybox: "busybox-static",
  chromium: "chromium",
  clang: "clang",
  dnsmasq: "dnsmasq-base",
  "dpkg-deb": "dpkg",
  gcc: "gcc",
  git: "git",
  ip: "iproute2",
  make: "make",
  mke2fs: "e2fsprogs",
  mmdebstrap: "mmdebstrap",
  mount: "mount",
  nsenter: "util-linux",
  openssl: "openssl",
  "pkg-config": "pkg-config",
  setcap: "libcap2-bin",
  setpriv: "util-linux",
  shellcheck: "shellcheck",
  strace: "strace",
  tar: "tar",
  unshare: "util-linux",
  "aarch64-linux-gnu-strip": "binutils-aarch64-linux-gnu",
  "x86_64-linux-gnu-strip": "binutils-x86-64-linux-gnu",
} as const;

/** A program of the table. */
export type ProgramName = keyof typeof debianPackages;

export interface EnsureProgramsOptions {
  readonly progress?: WriteLine;
  readonly env?: NodeJS.ProcessEnv;
  readonly isRoot?: boolean;
}

/** Rejects with TestingError `programs`, which names the programs that are missing and the command that installs them. */
export async function ensurePrograms(
  programs: readonly ProgramName[],
  options: EnsureProgramsOptions = {},
): Promise<void> {
  const { progress = writeToStderr, env = process.env, isRoot = process.geteuid?.() === 0 } = options;
  const missing = await missingPrograms(programs, env);
  if (missing.length === 0) return;
  const command = `apt-get install -y --no-install-recommends ${packagesOf(missing).join(" ")}`;
  if (!isRoot || (await missingFiles(["apt-get"], env)).length > 0) throw notInstalled(missing, `as root: ${command}`);

  const run = (...args: readonly string[]) =>
    promisify(execFile)("apt-get", ["-qq", ...args], { env: { ...env, DEBIAN_FRONTEND: "noninteractive" } });
  await createProgress({ write: progress }).during(`installing ${packagesOf(missing).join(", ")}`, async () => {
    await run("update").catch(() => undefined); // a foreign source may fail; a package that is then missing is reported
    const flags = ["-y", "--no-install-recommends", "-o", "DPkg::Lock::Timeout=300"];
    await run("install", ...flags, ...packagesOf(missing)).catch((cause: unknown) => {
      throw notInstalled(missing, `${command} failed`, cause);
    });
  });
  const left = await missingPrograms(missing, env);
  if (left.length > 0) throw notInstalled(left, `the packages ${packagesOf(left).join(", ")} do not have them`);
}

/** Returns the programs that are neither on PATH nor in the directories of an administrator's programs. */
export async function missingPrograms(
  programs: readonly ProgramName[],
  env: NodeJS.ProcessEnv = process.env,
): Promise<readonly ProgramName[]> {
  const missing = new Set(await missingFiles(programs, env));
  return programs.filter((program) => missing.has(program));
}

/** Users other than root often do not have /usr/sbin on their PATH. */
const moreDirectories = ["/usr/sbin", "/sbin"];

async function missingFiles(names: readonly string[], env: NodeJS.ProcessEnv): Promise<readonly string[]> {
  const onPath = (env["PATH"] ?? "").split(delimiter).filter((directory) => directory !== "");
  const places = (name: string): readonly string[] =>
    name.startsWith("/") ? [name] : [...onPath, ...moreDirectories].map((directory) => join(directory, name));
  const found = await Promise.all(
    names.map((name) =>
      Promise.any(
        places(name).map((path) => access(path, name.startsWith("/") ? constants.R_OK : constants.X_OK)),
      ).then(
        () => true,
        () => false,
      ),
    ),
  );
  return names.filter((_, index) => found[index] !== true);
}

function packagesOf(programs: readonly ProgramName[]): readonly string[] {
  return [...new Set(programs.map((program) => debianPackages[program]))];
}

function notInstalled(programs: readonly ProgramName[], advice: string, cause?: unknown): TestingError {
  return new TestingError("programs", `not installed: ${programs.join(", ")}; ${advice}`, { cause });
}
