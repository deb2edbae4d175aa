// SPDX-License-Identifier: Apache-2.0
/** readFiles reads objects from files, directories, tar archives and standard input. */
import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { isJsonObject, type Manifest } from "../json.ts";
import { parseManifests, type Parsed } from "./parse-manifests.ts";
import { isTar, readTar, sizeText, TarError, tarLimits } from "./read-tar.ts";

/** Files with objects in a directory or archive. */
const manifestName = /\.(ya?ml|json)$/;

/** Returns objects in the order of `paths`. A directory stands for all *.yaml, *.yml and *.json below it, sorted by name, and so does a tar archive; "-" is `stdin`. */
export async function readFiles(paths: readonly string[], stdin: AsyncIterable<Uint8Array | string>): Promise<Parsed> {
  const manifests: Manifest[] = [];
  const problems: string[] = [];
  for (const path of paths) {
    for await (const parsed of readPath(path, stdin)) {
      for (const manifest of parsed.manifests) manifests.push(manifest);
      problems.push(...parsed.problems);
    }
  }
  return { manifests, problems };
}

async function* readPath(path: string, stdin: AsyncIterable<Uint8Array | string>): AsyncGenerator<Parsed> {
  if (path === "-") {
    yield parseManifests(await readAll(stdin), "-");
    return;
  }
  try {
    if (isTar(path)) for (const parsed of await readArchive(path)) yield parsed;
    else for (const file of await filesOf(path)) yield await readOne(file);
  } catch (cause) {
    yield { manifests: [], problems: [`${path}: ${explain(cause)}`] };
  }
}

async function readArchive(path: string): Promise<readonly Parsed[]> {
  const archive = await readFile(path);
  try {
    const { files, tooLarge } = await readTar(archive, (name) => manifestName.test(name));
    const problems = tooLarge.map((name) => `${path}:${name}: larger than ${sizeText(tarLimits.fileBytes)}, not read`);
    return [
      { manifests: [], problems },
      ...files
        .toSorted((a, b) => (a.name < b.name ? -1 : 1))
        .map(({ name, text }) => parseManifests(text, `${path}:${name}`)),
    ];
  } catch (cause) {
    if (!(cause instanceof TarError)) throw cause;
    return [{ manifests: [], problems: [`${path}: ${cause.message}`] }];
  }
}

async function readOne(file: string): Promise<Parsed> {
  try {
    return parseManifests(await readFile(file, "utf8"), file);
  } catch (cause) {
    return { manifests: [], problems: [`${file}: ${explain(cause)}`] };
  }
}

async function filesOf(path: string): Promise<readonly string[]> {
  if (!(await stat(path)).isDirectory()) return [path];
  const names = await readdir(path, { recursive: true });
  return names
    .filter((name) => manifestName.test(name))
    .sort()
    .map((name) => join(path, name));
}

async function readAll(stdin: AsyncIterable<Uint8Array | string>): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of stdin) chunks.push(typeof chunk === "string" ? Buffer.from(chunk) : chunk);
  return Buffer.concat(chunks).toString("utf8");
}

/** Describes an error of the file system by its errno. Any other error is a bug and is thrown. */
function explain(cause: unknown): string {
  if (!isJsonObject(cause) || typeof cause["code"] !== "string" || typeof cause["syscall"] !== "string") throw cause;
  return fileErrors.get(cause["code"]) ?? `cannot be read: ${cause["code"]}`;
}

/** Words for the errors of everyday. */
const fileErrors: ReadonlyMap<string, string> = new Map([
  ["ENOENT", "no such file or directory (ENOENT)"],
  ["EACCES", "permission denied (EACCES)"],
]);
