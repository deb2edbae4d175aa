// SPDX-License-Identifier: Apache-2.0
/**
 * ownProgram lists the files of the running program and of the Node that runs it, as systemd needs them on the host:
 * the bundle with its native packages, Node, and its shared libraries. The host may have older libraries.
 */
import { createHash } from "node:crypto";
import { promises as fs } from "node:fs";
import { basename, dirname, extname, join, relative } from "node:path";
import { bootFileHeader } from "@switchyard/api";
import { bootProgramDirectory, type ProgramFile, type ProgramVersion } from "@switchyard/host";

/** What the program consists of. */
export interface RunningFiles {
  /** Path of the main file of the bundle. */
  readonly script: string;
  /** Path of Node's executable. */
  readonly runtime: string;
  /** Paths of Node's shared libraries, including the dynamic loader. */
  readonly libraries: readonly string[];
}

/** The files of this process. */
export function runningFiles(): RunningFiles {
  Reflect.set(process.report, "excludeNetwork", true); // it would look up the names of all connections
  const report: unknown = process.report.getReport();
  const objects =
    typeof report === "object" && report !== null && "sharedObjects" in report ? report.sharedObjects : [];
  const libraries = (Array.isArray(objects) ? objects : []).filter((path): path is string => {
    return typeof path === "string" && /^\/.*\.so(\.\d+)*$/.test(path); // not the vDSO
  });
  return { script: process.argv[1] ?? "", runtime: process.execPath, libraries };
}

/** What is loaded of the native packages. Sources and documentation are not copied. */
const loadable: ReadonlySet<string> = new Set([".cjs", ".js", ".mjs", ".json", ".node"]);

/** Rejects with an error of Node if a file cannot be read. */
export async function ownProgram({ script, runtime, libraries }: RunningFiles): Promise<ProgramVersion> {
  const directory = dirname(script);
  const main = basename(script);
  const manifest = join(directory, "package.json");
  const bundle = [
    script,
    ...((await isFile(manifest)) ? [manifest] : []),
    ...(await listFiles(join(directory, "chunks"))),
    ...(await listFiles(join(directory, "node_modules"))),
  ].filter((path) => loadable.has(extname(path)));
  const files: ProgramFile[] = bundle.map((from) => ({ from, to: relative(directory, from) }));
  const system: ProgramFile[] = [
    { from: runtime, to: "node", executable: true },
    ...libraries.map((from) => ({ from, to: join("lib", basename(from)), executable: true })),
  ];
  const loader = libraries.map((path) => basename(path)).find((name) => /^ld(-linux|-musl|64).*\.so\.\d+$/.test(name));

  const hash = createHash("sha256").update(`${process.version} ${process.arch}`);
  for (const from of bundle) hash.update(`\0${relative(directory, from)}\0`).update(await fs.readFile(from));
  // Node and its libraries are large. A different version has another size or another text in process.version.
  for (const from of [runtime, ...libraries]) hash.update(`\0${basename(from)} ${(await fs.stat(from)).size}`);
  const id = hash.digest("hex").slice(0, 16);
  return {
    id,
    files: [...files, ...system, { text: launcherText(id, main, loader), to: "config-daemon", executable: true }],
  };
}

/** It names its version, so a process that runs during an update loads one version only. */
function launcherText(id: string, main: string, loader: string | undefined): string {
  const node = `"$d/node" "$d/${main}"`;
  return [
    "#!/bin/sh",
    bootFileHeader,
    "unset NODE_OPTIONS",
    `d=${bootProgramDirectory}-${id}`,
    'export NODE_COMPILE_CACHE="$d/cache"',
    `exec ${loader === undefined ? node : `"$d/lib/${loader}" --library-path "$d/lib" ${node}`} "$@"`,
    "",
  ].join("\n");
}

async function listFiles(directory: string): Promise<readonly string[]> {
  const entries = await fs.readdir(directory, { recursive: true, withFileTypes: true }).catch(() => []);
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}

async function isFile(path: string): Promise<boolean> {
  return fs.stat(path).then(
    (stats) => stats.isFile(),
    () => false,
  );
}
