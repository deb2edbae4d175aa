// SPDX-License-Identifier: Apache-2.0
/**
 * Implements HostFiles on the disk of the fake kernel, which survives the daemon. A directory exists while it has entries.
 */
import { largestTextBytes, type HostFiles } from "../ports/host-files.ts";
import { answer, Refusal } from "./faults.ts";

export interface FakeFiles {
  readonly port: HostFiles;
  write(path: string, text: string): void;
  link(path: string, target: string): void;
  /** Returns the text of a file, and undefined for a link. */
  readText(path: string): string | undefined;
  remove(path: string): void;
  /** Returns the paths of all files and links, sorted. */
  list(): readonly string[];
  /** Returns the texts of all files below a directory, by path. */
  readAll(directory: string): readonly string[];
}

type Entry = { readonly text: string } | { readonly target: string };

export function createFakeFiles(): FakeFiles {
  const entries = new Map<string, Entry>();
  const isDirectory = (path: string) => [...entries.keys()].some((other) => other.startsWith(`${path}/`));

  return {
    write: (path, text) => void entries.set(path, { text }),
    link: (path, target) => void entries.set(path, { target }),
    readText(path) {
      const entry = entries.get(path);
      return entry !== undefined && "text" in entry ? entry.text : undefined;
    },
    remove: (path) => void entries.delete(path),
    list: () => [...entries.keys()].sort(),
    readAll: (directory) =>
      [...entries]
        .filter(([path]) => path.startsWith(directory))
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .flatMap(([, entry]) => ("text" in entry ? [entry.text] : [])),
    port: {
      listNames: (directory) =>
        answer(() => {
          const inside = [...entries.keys()].filter((path) => path.startsWith(`${directory}/`));
          const names = inside.map((path) => path.slice(directory.length + 1).split("/")[0] ?? "");
          return [...new Set(names)].sort();
        }),
      readKind: (path) =>
        answer(() => {
          const entry = entries.get(path);
          if (entry === undefined) return isDirectory(path) ? "directory" : undefined;
          return "text" in entry ? "file" : "link";
        }),
      readText: (path) =>
        answer(() => {
          const entry = entries.get(path);
          if (entry === undefined || !("text" in entry)) return undefined;
          return Buffer.byteLength(entry.text) <= largestTextBytes ? entry.text : undefined;
        }),
      readLink: (path) =>
        answer(() => {
          const entry = entries.get(path);
          return entry !== undefined && "target" in entry ? entry.target : undefined;
        }),
      writeText: (path, text) =>
        answer(() => {
          if (isDirectory(path)) throw new Refusal("EISDIR");
          entries.set(path, { text });
        }),
      remove: (path) =>
        answer(() => {
          if (isDirectory(path)) throw new Refusal("EISDIR");
          entries.delete(path);
        }),
    },
  };
}
