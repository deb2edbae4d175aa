// SPDX-License-Identifier: Apache-2.0
/**
 * install installs eve-bridge into a CNI directory of the node, from an init container. It copies the new version into
 * a directory of its own, tests it, and activates it with one rename(2). Thus every call of a runtime runs either the
 * old or the new version. It writes to the CNI directory only.
 */
import { createHash } from "node:crypto";
import { createReadStream, promises as fs } from "node:fs";
import { basename, dirname, join } from "node:path";
import { CniError, cniCode, errnoOf } from "../request/cni-error.ts";
import { sleep } from "../process/deadline.ts";
import { writeCodeCache } from "./code-cache.ts";
import {
  cacheName,
  commandOf,
  homeName,
  idInLauncher,
  isLoader,
  launcherText,
  libraryDirName,
  runtimeName,
  scriptName,
  startName,
  type Launched,
} from "./launcher.ts";
import { runCommand } from "../process/run-command.ts";

/** The files to install. */
export interface ProgramSource {
  readonly version: string;
  /** Path of the bundled program. `start.cjs` is in the same directory. */
  readonly script: string;
  /** Path of Node's executable. */
  readonly runtime: string;
  /** Paths of the shared libraries that Node needs, including the dynamic loader. */
  readonly libraries: readonly string[];
}

/** Options of install. */
export interface InstallOptions {
  /** The CNI directory, as this process sees it. */
  readonly dir: string;
  readonly source: ProgramSource;
  /** How long the old version is kept after the rename, for calls that have already read the old launcher. */
  readonly graceMs: number;
}

/** The result of install. */
export interface Installed {
  readonly id: string;
  readonly launcher: string;
  /** The versions that were removed. */
  readonly removed: readonly string[];
}

/** The file name that a container runtime looks for. */
const pluginName = "eve-bridge";

/** The oldest major version of Node that eve-bridge is tested with. */
export const oldestNode = 24;

/** Prefix of the names of incomplete files and directories. */
const temporary = ".new-";
/** The age from which an incomplete file is removed; a younger one may belong to a running installer. */
const abandonedMs = 600_000;
const tryOutMs = 30_000;

/** The files of the running program, which must be the bundle. Throws code 7. */
export function runningProgram(version: string): ProgramSource {
  const script = process.argv[1] ?? "";
  if (!script.endsWith(scriptName)) {
    throw new CniError(cniCode.invalidConfig, `only the bundle ${scriptName} can be installed`, { details: script });
  }
  const major = Number(process.versions.node.split(".")[0]);
  if (major < oldestNode) {
    const message = `install needs Node.js ${oldestNode} or later, because it installs the Node.js that runs it`;
    throw new CniError(cniCode.invalidConfig, message, { details: process.version });
  }
  // If a launcher started this process, the executable is the dynamic loader.
  const runtime = isLoader(basename(process.execPath)) ? join(dirname(script), runtimeName) : process.execPath;
  return { version, script, runtime, libraries: loadedLibraries() };
}

/** Installs or updates. Throws, and keeps the installed version, when the new version does not work. */
export async function install({ dir, source, graceMs }: InstallOptions): Promise<Installed> {
  const home = join(dir, homeName);
  await fs.mkdir(home, { recursive: true, mode: 0o755 });
  const launched = await putVersion(home, source);
  const launcher = join(dir, pluginName);
  await replaceLauncher(launcher, launched);
  if (graceMs > 0) await sleep(graceMs);
  const removed = [...(await prune(home, launcher, graceMs)), ...(await pruneDrafts(dir))];
  return { id: launched.id, launcher, removed };
}

/** Creates the directory of the version. It gets its name when it is complete. */
async function putVersion(home: string, source: ProgramSource): Promise<Launched> {
  const files = [
    { from: source.script, to: scriptName, mode: 0o644 },
    { from: join(dirname(source.script), startName), to: startName, mode: 0o644 },
    { from: source.runtime, to: runtimeName, mode: 0o755 },
    ...source.libraries.map((from) => ({ from, to: join(libraryDirName, basename(from)), mode: 0o755 })),
  ];
  const id = `${source.version}-${await digest(files)}`;
  const loader = source.libraries.map((path) => basename(path)).find(isLoader);
  const launched = { id, ...(loader === undefined ? {} : { loader }) };

  const version = join(home, id);
  if (await exists(version)) return launched; // complete, and its name contains the digest of its content
  const draft = await fs.mkdtemp(join(home, temporary));
  try {
    await fs.chmod(draft, 0o755);
    await fs.mkdir(join(draft, libraryDirName), { mode: 0o755 });
    for (const { from, to, mode } of files) await copy(from, join(draft, to), mode);
    await writeCodeCache(draft, commandOf(draft, loader));
    await sync(join(draft, cacheName));
    await sync(join(draft, libraryDirName));
    await sync(draft);
    await renameUnlessThere(draft, version);
    await sync(home);
  } finally {
    await fs.rm(draft, { recursive: true, force: true });
  }
  return launched;
}

/** Replaces the launcher after the new one has answered VERSION. */
async function replaceLauncher(launcher: string, launched: Launched): Promise<void> {
  const draft = join(dirname(launcher), `${temporary}${pluginName}-${process.pid}`);
  try {
    await fs.writeFile(draft, launcherText(launched), { mode: 0o755 });
    await fs.chmod(draft, 0o755); // independent of the umask
    await sync(draft);
    await tryOut(draft);
    await fs.rename(draft, launcher);
    await sync(dirname(launcher));
  } finally {
    await fs.rm(draft, { force: true });
  }
}

async function tryOut(launcher: string): Promise<void> {
  const env = { CNI_COMMAND: "VERSION", PATH: process.env["PATH"] };
  const { status, stdout, stderr } = await runCommand(launcher, [], { env, stdin: "{}", timeoutMs: tryOutMs });
  if (status === 0 && stdout.includes("supportedVersions")) return;
  const details = (stderr || stdout).slice(0, 500);
  throw new CniError(cniCode.internal, "the new version does not run on this node; nothing was changed", { details });
}

/** Removes the versions that are not current and older than `graceMs`, and the drafts of killed installers. */
async function prune(home: string, launcher: string, graceMs: number): Promise<string[]> {
  // Read the launcher again, because another installer may have replaced it during the grace period.
  const current = idInLauncher(await fs.readFile(launcher, "utf8"));
  const removed: string[] = [];
  for (const name of await fs.readdir(home)) {
    if (name === current) continue;
    if ((await ageOf(join(home, name))) < (name.startsWith(temporary) ? abandonedMs : graceMs)) continue;
    await fs.rm(join(home, name), { recursive: true, force: true });
    removed.push(name);
  }
  return removed;
}

/** Removes the launchers of killed installers. */
async function pruneDrafts(dir: string): Promise<string[]> {
  const removed: string[] = [];
  for (const name of await fs.readdir(dir)) {
    if (!name.startsWith(`${temporary}${pluginName}-`) || (await ageOf(join(dir, name))) < abandonedMs) continue;
    await fs.rm(join(dir, name), { force: true });
    removed.push(name);
  }
  return removed;
}

/** No version of EVE with CNI is older. A file from before is from a clock that was not set. */
const earliestMs = Date.UTC(2020, 0);

/**
 * Milliseconds since the last change; 0 if `path` does not exist. A file whose time is from a clock that was not set, or in the future,
 * gets the present one, and counts as new.
 */
async function ageOf(path: string): Promise<number> {
  const stat = await fs.stat(path).catch(() => undefined);
  if (stat === undefined) return 0;
  const changedMs = Math.max(stat.ctimeMs, stat.mtimeMs);
  const ageMs = Date.now() - changedMs;
  if (ageMs >= 0 && changedMs >= earliestMs) return ageMs;
  await fs.utimes(path, new Date(), new Date()).catch(() => undefined);
  return 0;
}

/** The digest of names and contents. */
async function digest(files: readonly { from: string; to: string }[]): Promise<string> {
  const hash = createHash("sha256");
  for (const { from, to } of files) {
    hash.update(`${to}\0`);
    for await (const chunk of createReadStream(from)) hash.update(chunk as Buffer);
  }
  return hash.digest("hex").slice(0, 12);
}

async function copy(from: string, to: string, mode: number): Promise<void> {
  await fs.copyFile(from, to);
  await fs.chmod(to, mode);
  await sync(to);
}

async function sync(path: string): Promise<void> {
  const handle = await fs.open(path, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Renames, unless another installer of the same version has already done so. */
async function renameUnlessThere(from: string, to: string): Promise<void> {
  try {
    await fs.rename(from, to);
  } catch (error) {
    const errno = errnoOf(error);
    if (errno !== "ENOTEMPTY" && errno !== "EEXIST") throw error;
  }
}

async function exists(path: string): Promise<boolean> {
  return fs.stat(path).then(
    () => true,
    () => false,
  );
}

/** The paths of the shared libraries of this process. Skips the vDSO, which is not a file. */
function loadedLibraries(): string[] {
  const report: unknown = process.report.getReport();
  const objects =
    typeof report === "object" && report !== null && "sharedObjects" in report ? report.sharedObjects : [];
  if (!Array.isArray(objects))
    throw new CniError(cniCode.internal, "process.report does not list the shared libraries of Node.js");
  return objects.filter((path): path is string => typeof path === "string" && /^\/.*\.so(\.\d+)*$/.test(path));
}
