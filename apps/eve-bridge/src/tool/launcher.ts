// SPDX-License-Identifier: Apache-2.0
/**
 * launcherText builds the file that a container runtime starts: a shell script with one `exec`, because plain Node
 * with a script and its code cache starts fastest (docs/decisions/010-eve-bridge-launcher.md). The script uses paths
 * relative to itself, so the directory can be mounted anywhere. It starts Node with the installed loader and libraries,
 * so it does not depend on the C library of the host, which is musl on EVE.
 */

/** The directory below the CNI directory that contains one directory per installed version. */
export const homeName = ".eve-bridge";

/** File names in the directory of a version. */
export const runtimeName = "node";
export const startName = "start.cjs";
export const scriptName = "eve-bridge.cjs";
export const cacheName = "eve-bridge.cache";
export const libraryDirName = "lib";

/** The installed version that a launcher starts. */
export interface Launched {
  /** The version's directory below `homeName`. */
  readonly id: string;
  /** The file name of the dynamic loader in `lib`; undefined for a statically linked Node. */
  readonly loader?: string;
}

/** The text of the launcher. $0 is the path that the runtime started. */
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

/** The command that starts the version in `dir`. */
export function commandOf(dir: string, loader: string | undefined): Command {
  const libraries = `${dir}/${libraryDirName}`;
  const node = [`${dir}/${runtimeName}`, `${dir}/${startName}`] as const;
  return loader === undefined ? node : [`${libraries}/${loader}`, "--library-path", libraries, ...node];
}

/** The version id in a launcher's text; undefined if `text` is not a launcher of eve-bridge. */
export function idInLauncher(text: string): string | undefined {
  return /^d="\$\{0%\/\*\}\/\.eve-bridge\/([^"/]+)"$/m.exec(text)?.[1];
}

/** Whether a file name is that of a dynamic loader, such as ld-linux-x86-64.so.2, ld-musl-aarch64.so.1 or ld64.so.1. */
export function isLoader(name: string): boolean {
  return /^ld(-linux|-musl|64).*\.so\.\d+$/.test(name);
}
