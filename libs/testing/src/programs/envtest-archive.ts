// SPDX-License-Identifier: Apache-2.0
/**
 * unpackEnvtest downloads the archive with etcd, kube-apiserver and kubectl that the Kubernetes project publishes for tests
 * ("envtest"). An index in the controller-tools repository has the URL and SHA-512 of each archive.
 */
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { open, rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import type { BinaryName } from "./binary-cache.ts";
import { createProgress, type WriteLine } from "../progress.ts";
import { TestingError } from "../testing-error.ts";

export const envtestIndexUrl =
  "https://raw.githubusercontent.com/kubernetes-sigs/controller-tools/HEAD/envtest-releases.yaml";

/** The binaries in an archive. */
export const envtestBinaries: readonly BinaryName[] = ["etcd", "kube-apiserver", "kubectl"];

export interface EnvtestRelease {
  readonly version: string;
  readonly url: string;
  /** Hexadecimal. */
  readonly sha512: string;
}

export interface EnvtestRequest {
  readonly indexUrl: string;
  /** Version, "1.36.3". The newest patch release of its minor version is used. */
  readonly kubernetes: string;
  /** "linux-amd64" */
  readonly platform: string;
  readonly outDirectory: string;
  readonly write: WriteLine;
  /** Time limit for the head of the index; that of the archive is ten times as long. Many machines cannot reach the index. */
  readonly reachWithinMs: number;
}

/** Unpacks the archive into `outDirectory` after it has checked the SHA-512. Rejects with TestingError `archive`. */
export async function unpackEnvtest(request: EnvtestRequest): Promise<void> {
  const { indexUrl, kubernetes, platform, outDirectory, write, reachWithinMs } = request;
  const index = await (await get(indexUrl, reachWithinMs)).text();
  const release = chooseRelease(index, kubernetes, platform);
  if (release === undefined) {
    throw new TestingError("archive", `${indexUrl} has no patch release of Kubernetes ${kubernetes} for ${platform}`);
  }
  const archive = join(outDirectory, "envtest.tar.gz");
  const response = await get(release.url, 10 * reachWithinMs);
  let received = 0;
  const detail = () => `${Math.round(received / 1e6)} MB`;
  const download = async () => {
    const sha512 = await save(response, archive, (count) => {
      received += count;
    });
    if (sha512 !== release.sha512) {
      throw new TestingError("archive", `${release.url} has SHA-512 ${sha512}, but the index has ${release.sha512}`);
    }
  };
  await createProgress({ write }).during(`downloading envtest ${release.version}`, download, detail);
  // The files are in controller-tools/envtest/.
  await promisify(execFile)("tar", ["-xzf", archive, "-C", outDirectory, "--strip-components=2"]);
  await rm(archive);
}

/** Returns the platform of an archive in the words of the index, such as "darwin-arm64". */
export function envtestPlatform({ platform, arch }: Pick<NodeJS.Process, "platform" | "arch"> = process): string {
  return `${platform}-${arch === "x64" ? "amd64" : arch}`;
}

/** Returns the newest patch release of the minor version for `platform`. The index is YAML in block style. */
export function chooseRelease(index: string, kubernetes: string, platform: string): EnvtestRelease | undefined {
  const entry = /^ {4}envtest-v(\S+?)-(\w+-\w+)\.tar\.gz:\n((?: {6}.*\n?)*)/gm;
  const releases = [...index.matchAll(entry)].flatMap(([, version = "", entryPlatform, fields = ""]) => {
    const sha512 = /^ {6}hash: (\w+)$/m.exec(fields)?.[1];
    const url = /^ {6}selfLink: (\S+)$/m.exec(fields)?.[1];
    if (entryPlatform !== platform || sha512 === undefined || url === undefined) return [];
    return patchOf(version, kubernetes) === undefined ? [] : [{ version, url, sha512 }];
  });
  const newestFirst = (a: EnvtestRelease, b: EnvtestRelease) =>
    (patchOf(b.version, kubernetes) ?? 0) - (patchOf(a.version, kubernetes) ?? 0);
  return releases.toSorted(newestFirst)[0];
}

// Returns 3 for "1.36.3"; undefined for another minor version and for pre-releases.
function patchOf(version: string, kubernetes: string): number | undefined {
  const minor = kubernetes.split(".").slice(0, 2).join(".");
  const [, patch] = version.startsWith(`${minor}.`) ? (/^\d+\.\d+\.(\d+)$/.exec(version) ?? []) : [];
  return patch === undefined ? undefined : Number(patch);
}

/** Resolves with the response when its head has arrived. */
async function get(url: string, reachWithinMs: number): Promise<Response> {
  const unreachable = new AbortController();
  const timer = setTimeout(() => {
    unreachable.abort();
  }, reachWithinMs);
  try {
    const response = await fetch(url, { signal: AbortSignal.any([unreachable.signal, AbortSignal.timeout(600_000)]) });
    if (response.ok) return response;
    throw new TestingError("archive", `${url}: HTTP ${response.status}`);
  } catch (cause) {
    if (cause instanceof TestingError) throw cause;
    throw new TestingError("archive", `${url}: no response within ${reachWithinMs} ms`, { cause });
  } finally {
    clearTimeout(timer);
  }
}

/** Writes the body to `path` and returns its SHA-512. */
async function save({ body }: Response, path: string, onBytes: (count: number) => void): Promise<string> {
  const hash = createHash("sha512");
  await using file = await open(path, "w");
  const chunks: AsyncIterable<Uint8Array> | readonly Uint8Array[] = body ?? [];
  for await (const chunk of chunks) {
    hash.update(chunk);
    await file.writeFile(chunk);
    onBytes(chunk.length);
  }
  return hash.digest("hex");
}
