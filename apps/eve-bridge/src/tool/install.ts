// SPDX-License-Identifier: Apache-2.0
/**
 * Installation into a node's CNI directory, by an init container. A version is put beside the others under a name of its
 * own, tried, and then made the current one by a single rename: a runtime that calls meanwhile sees the old one whole or
 * the new one whole. Nothing outside the CNI directory is written.
 * Usage: `await install({ dir: "/host/opt/cni/bin", source: runningProgram(), graceMs: 10_000 })`.
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
import { runCommand } from "../delegates/run-command.ts";

/** What to install. */
export interface ProgramSource {
  readonly version: string;
  /** The bundled program; `start.cjs` is beside it. */
  readonly script: string;
  /** Node. */
  readonly runtime: string;
  /** The shared libraries that Node needs, with its loader. */
  readonly libraries: readonly string[];
}

/** Where to, and how patiently. */
export interface InstallOptions {
  /** The CNI directory, as this process sees it. */
  readonly dir: string;
  readonly source: ProgramSource;
  /** How long the old version stays after it was replaced: for calls that have read the old launcher. */
  readonly graceMs: number;
}

/** What was done. */
export interface Installed {
  readonly id: string;
  readonly launcher: string;
  /** Versions that are gone now. */
  readonly removed: readonly string[];
}

/** What a container runtime looks for. */
export const pluginName = "eve-bridge";

/** The oldest Node that the program is tested with. */
export const oldestNode = 24;

/** Before the names of things that are not whole yet. */
const temporary = ".new-";
/** Younger ones may be another installer's work. */
const abandonedMs = 600_000;
const tryOutMs = 30_000;

/** The program that is running, as a source: it must be the bundle, run by a Node of its own. */
export function runningProgram(version: string): ProgramSource {
  const script = process.argv[1] ?? "";
  if (!script.endsWith(scriptName)) {
    throw new CniError(cniCode.invalidConfig, `only the bundle ${scriptName} can be installed`, { details: script });
  }
  const major = Number(process.versions.node.split(".")[0]);
  if (major < oldestNode) {
    const message = `Node ${oldestNode} or later is needed, which would be installed too`;
    throw new CniError(cniCode.invalidConfig, message, { details: process.version });
  }
  // Started by a launcher, the executable is the loader.
  const runtime = isLoader(basename(process.execPath)) ? join(dirname(script), runtimeName) : process.execPath;
  return { version, script, runtime, libraries: loadedLibraries() };
}

/** Installs or updates. Throws, leaving the present version as it is, when the new one does not work. */
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

/** The version's directory, complete or not there. */
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
  if (await exists(version)) return launched; // its name has its content's digest, and it came here by rename
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

/** The new launcher takes the old one's name when it has answered VERSION. */
async function replaceLauncher(launcher: string, launched: Launched): Promise<void> {
  const draft = join(dirname(launcher), `${temporary}${pluginName}-${process.pid}`);
  try {
    await fs.writeFile(draft, launcherText(launched), { mode: 0o755 });
    await fs.chmod(draft, 0o755); // whatever the umask
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
  throw new CniError(cniCode.internal, "the new version does not run here: nothing was changed", { details });
}

/** Removes versions that no launcher names and that are older than `graceMs`, and what killed installers left. */
async function prune(home: string, launcher: string, graceMs: number): Promise<string[]> {
  // Read again: another installer may have been here while we waited.
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

/** Removes launchers that killed installers did not come to rename. */
async function pruneDrafts(dir: string): Promise<string[]> {
  const removed: string[] = [];
  for (const name of await fs.readdir(dir)) {
    if (!name.startsWith(`${temporary}${pluginName}-`) || (await ageOf(join(dir, name))) < abandonedMs) continue;
    await fs.rm(join(dir, name), { force: true });
    removed.push(name);
  }
  return removed;
}

/** Since the last change, in milliseconds; 0 for what is gone. */
async function ageOf(path: string): Promise<number> {
  const stat = await fs.stat(path).catch(() => undefined);
  return stat === undefined ? 0 : Date.now() - Math.max(stat.ctimeMs, stat.mtimeMs);
}

/** Names and contents: equal digests mean equal versions. */
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

/** Another installer of the same version may have been quicker. */
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

/** As the loader knows them, by the names that programs ask for. The vDSO is no file. */
function loadedLibraries(): string[] {
  const report: unknown = process.report.getReport();
  const objects =
    typeof report === "object" && report !== null && "sharedObjects" in report ? report.sharedObjects : [];
  if (!Array.isArray(objects)) throw new CniError(cniCode.internal, "Node does not say which libraries it uses");
  return objects.filter((path): path is string => typeof path === "string" && /^\/.*\.so(\.\d+)*$/.test(path));
}
