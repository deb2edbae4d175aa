// SPDX-License-Identifier: Apache-2.0
/**
 * The file that a container runtime starts: a shell script of one `exec`, since plain Node with a script and its code
 * cache starts quickest (docs/decisions/010-eve-bridge-launcher.md). It finds everything beside itself, so the directory can be mounted
 * anywhere, and brings the loader and the libraries of its Node, so the node's own C library does not matter: EVE's is musl.
 * Usage: `launcherText({ id: "0.1.0-1f2e3d4c5b6a", loader: "ld-linux-x86-64.so.2" })`.
 */

/** Below the CNI directory: one directory for each installed version. */
export const homeName = ".eve-bridge";

/** Names in a version's directory. */
export const runtimeName = "node";
export const startName = "start.cjs";
export const scriptName = "eve-bridge.cjs";
export const cacheName = "eve-bridge.cache";
export const libraryDirName = "lib";

/** What a launcher starts. */
export interface Launched {
  /** The version's directory below `homeName`. */
  readonly id: string;
  /** The dynamic loader in its `lib`; undefined for a statically linked Node. */
  readonly loader?: string;
}

/** The script. $0 is the path that the runtime called. */
export function launcherText({ id, loader }: Launched): string {
  const command = commandOf("$d", loader).map((word) => (word.startsWith("-") ? word : `"${word}"`));
  return [
    "#!/bin/sh",
    "# Written by `eve-bridge install`; the next installation replaces it.",
    "unset NODE_OPTIONS",
    `d="\${0%/*}/${homeName}/${id}"`,
    `exec ${command.join(" ")} "$@"`,
    "",
  ].join("\n");
}

/** A program and its arguments. */
export type Command = readonly [string, ...string[]];

/** How a version in `dir` is started. */
export function commandOf(dir: string, loader: string | undefined): Command {
  const libraries = `${dir}/${libraryDirName}`;
  const node = [`${dir}/${runtimeName}`, `${dir}/${startName}`] as const;
  return loader === undefined ? node : [`${libraries}/${loader}`, "--library-path", libraries, ...node];
}

/** The id in a launcher's text; undefined when it is not one of ours. */
export function idInLauncher(text: string): string | undefined {
  return /^d="\$\{0%\/\*\}\/\.eve-bridge\/([^"/]+)"$/m.exec(text)?.[1];
}

/** Whether a library is a dynamic loader, by its name: ld-linux-x86-64.so.2, ld-musl-aarch64.so.1, ld64.so.1. */
export function isLoader(name: string): boolean {
  return /^ld(-linux|-musl|64).*\.so\.\d+$/.test(name);
}
