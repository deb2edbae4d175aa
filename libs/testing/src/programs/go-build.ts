// SPDX-License-Identifier: Apache-2.0
/**
 * buildWithGo builds the binaries of the control plane from Go modules. The first build takes minutes, later ones seconds,
 * since Go caches packages.
 * Usage: `await buildWithGo({ moduleDirectory, names: ["etcd"], outDirectory, versions, env, write })`.
 */
import { isErrno } from "@switchyard/service";
import { execFile, spawn } from "node:child_process";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import type { BinaryName, BinaryVersions } from "./binary-cache.ts";
import { TestingError } from "../testing-error.ts";
import { createProgress, type WriteLine } from "../progress.ts";

export interface GoBuild {
  readonly moduleDirectory: string;
  readonly names: readonly BinaryName[];
  readonly outDirectory: string;
  readonly versions: BinaryVersions;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly write: WriteLine;
}

/** Builds the binaries one after the other, since they share most packages. Rejects with TestingError `build`. */
export async function buildWithGo(build: GoBuild): Promise<void> {
  const { names, write } = build;
  for (const [index, name] of names.entries()) {
    const what = `building ${name} (${index + 1} of ${names.length}; the first build of all takes about 5 minutes)`;
    let lastLine: string | undefined;
    const run = () =>
      runGo(build, goBuildArguments(name, build.versions, join(build.outDirectory, name)), (line) => {
        lastLine = line;
      });
    await createProgress({ write }).during(what, run, () => lastLine);
  }
}

/** Returns why Go cannot build the binaries, or undefined if it can. */
export async function whyNoGo(needed: string, env: GoBuild["env"]): Promise<string | undefined> {
  try {
    const { stdout } = await promisify(execFile)("go", ["env", "GOVERSION"], { env, cwd: tmpdir() });
    return isOlder(stdout.trim(), needed) ? `${stdout.trim()} is older than ${needed}` : undefined;
  } catch (error) {
    return isErrno(error, "ENOENT") ? "`go` is not in PATH" : String(error);
  }
}

/** Returns the arguments of `go` for one binary. */
export function goBuildArguments(name: BinaryName, versions: BinaryVersions, out: string): readonly string[] {
  // Without these flags the version would be v0.0.0, which clients report as an error.
  const [major = "", minor = ""] = versions.kubernetes.split(".");
  const stamps = [`gitVersion=v${versions.kubernetes}`, `gitMajor=${major}`, `gitMinor=${minor}`];
  const isEtcd = name === "etcd";
  const ldflags = ["-s -w", ...(isEtcd ? [] : stamps.map((stamp) => `-X k8s.io/component-base/version.${stamp}`))];
  const source = isEtcd ? "go.etcd.io/etcd/server/v3" : `k8s.io/kubernetes/cmd/${name}`;
  return ["build", "-trimpath", "-ldflags", ldflags.join(" "), "-o", out, source];
}

function runGo(
  { moduleDirectory, env }: GoBuild,
  args: readonly string[],
  onLine: (line: string) => void,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const go = spawn("go", args, {
      cwd: moduleDirectory,
      env: { ...env, CGO_ENABLED: "0", GOWORK: "off" },
      stdio: ["ignore", "ignore", "pipe"],
    });
    const lastLines: string[] = [];
    createInterface(go.stderr).on("line", (line) => {
      lastLines.push(line);
      if (lastLines.length > 20) lastLines.shift();
      onLine(line);
    });
    go.once("error", reject);
    go.once("close", (status) => {
      if (status === 0) resolve();
      else
        reject(
          new TestingError("build", [`go ${args.join(" ")}: exit ${status ?? "by signal"}`, ...lastLines].join("\n")),
        );
    });
  });
}

/** Reports whether "go1.25.4" is older than "1.26". Other formats are development builds, which count as new. */
function isOlder(goVersion: string, needed: string): boolean {
  const [, major, minor] = /^go(\d+)\.(\d+)/.exec(goVersion) ?? [];
  const [neededMajor = 0, neededMinor = 0] = needed.split(".").map(Number);
  if (major === undefined || minor === undefined) return false;
  return Number(major) < neededMajor || (Number(major) === neededMajor && Number(minor) < neededMinor);
}

/**
 * downloadGoModule returns the directory with the sources of a Go module. Go downloads it into its cache; nothing of it is in
 * this repository.
 * `checksum` is that of go.sum: "h1:…". Rejects if Go is missing, the download fails, or the checksum differs.
 */
export async function downloadGoModule(module: string, checksum: string): Promise<string> {
  const env = { ...process.env, GOWORK: "off" };
  const { stdout } = await promisify(execFile)("go", ["mod", "download", "-json", module], { cwd: tmpdir(), env });
  const { Dir: directory, Sum: sum } = JSON.parse(stdout) as { readonly Dir?: unknown; readonly Sum?: unknown };
  if (typeof directory !== "string") throw new Error(`go mod download ${module}: no directory in ${stdout}`);
  if (sum !== checksum) throw new Error(`${module} has the checksum ${JSON.stringify(sum)}, not ${checksum}`);
  return directory;
}
