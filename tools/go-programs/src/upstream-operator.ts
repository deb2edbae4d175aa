// SPDX-License-Identifier: Apache-2.0
/**
 * upstreamOperator builds the programs of upstream's operator, the Go SR-IOV network operator, for tests in which they
 * run beside Switchyard's. Nothing of them is in this repository: the sources are those of one commit of its public
 * repository, or an archive or a directory that a setting names.
 * Usage: `const { operator, chart } = await upstreamOperator();`
 */
import { cachedDirectory, cachePath } from "@switchyard/testing/user-cache";
import { execFile, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { cp, mkdtemp, readdir, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { contentKey } from "./build-go-programs.ts";

/** A commit of a public repository. */
interface PublicSources {
  readonly repository: string;
  readonly commit: string;
}

/** Where the sources are public, and the commit that the tests run: the development after release 1.6. */
const upstreamSources: PublicSources = {
  repository: "https://github.com/k8snetworkplumbingwg/sriov-network-operator",
  commit: "249e20012faf17b4f38057f29608bde2b21c5c9a",
};

/** Environment variable with the path of an archive (.tar.gz) or a directory of the sources. */
const upstreamSourceSetting = "SWITCHYARD_UPSTREAM_SOURCE";

/** Paths of what was built, and of the files that it reads. */
export interface UpstreamOperator {
  /** The operator's program. It reads its manifests relative to its working directory, which must be `directory`. */
  readonly operator: string;
  /** The program of the admission webhook. */
  readonly webhook: string;
  /** The program of the hook before an uninstallation, which deletes the SriovOperatorConfig. */
  readonly cleanup: string;
  /** The config daemon. It reads scripts in /bindata, and the host below /host. */
  readonly daemon: string;
  /** Directory with the operator's manifests. */
  readonly directory: string;
  /** Directory of the Helm chart. */
  readonly chart: string;
}

/** What of the sources is kept beside the programs. */
const keptFiles = ["bindata", "deployment/sriov-network-operator-chart", "LICENSE"];
/** Named as in upstream's images: the name of the operator's program is its field manager. */
const programs = {
  "sriov-network-operator": ".",
  webhook: "./cmd/webhook",
  "sriov-network-operator-config-cleanup": "./cmd/sriov-network-operator-config-cleanup",
  "sriov-network-config-daemon": "./cmd/sriov-network-config-daemon",
} as const;
/** An answer takes a second, and a fetch of one commit some more. The limits are for networks that drop packets. */
const [answerLimitMs, fetchLimitMs] = [20_000, 300_000];

/**
 * Returns why the sources are not available, for the name of a skipped test; undefined if a setting names them, if they are built
 * already, or if the repository answers. It waits for the repository, because Jest declares tests without waiting for promises.
 */
export function missingUpstreamOperator(
  env: Readonly<Record<string, string | undefined>> = process.env,
  { repository, commit }: PublicSources = upstreamSources,
): string | undefined {
  if ((env[upstreamSourceSetting] ?? "") !== "" || existsSync(cachePath(cacheName(commit)))) return undefined;
  const asked = spawnSync("git", ["ls-remote", "--quiet", repository, "HEAD"], {
    env: { ...process.env, GIT_TERMINAL_PROMPT: "0" },
    encoding: "utf8",
    timeout: answerLimitMs,
  });
  if (asked.status === 0) return undefined;
  const words = asked.error?.message ?? (/^fatal: (.*)$/m.exec(asked.stderr)?.[1] || asked.stderr.trim());
  const remedy = `set ${upstreamSourceSetting} to an archive or a directory of commit ${commit.slice(0, 12)}`;
  return `the sources of upstream's operator cannot be fetched from ${repository}: ${words}; ${remedy}`;
}

/**
 * Returns the programs. Rejects if the setting names something else than an archive or a directory of the sources, if they cannot
 * be fetched, if Go is missing, or if the build fails. The first build takes minutes. It is kept in the user's cache by the content
 * of the sources.
 */
export async function upstreamOperator(
  env: Readonly<Record<string, string | undefined>> = process.env,
): Promise<UpstreamOperator> {
  const given = env[upstreamSourceSetting] ?? "";
  const name = cacheName(given === "" ? upstreamSources.commit : await keyOfSource(given));
  const tree = await mkdtemp(join(tmpdir(), "switchyard-upstream-"));
  try {
    const directory = await cachedDirectory(name, async (draft) => {
      await build(given === "" ? await fetchCommit(tree, upstreamSources) : await openSource(given, tree), draft);
    });
    return pathsIn(directory);
  } finally {
    await rm(tree, { recursive: true, force: true });
  }
}

/** What was built for another set of programs is not taken. */
function cacheName(key: string): string {
  const set = createHash("sha256").update(Object.keys(programs).join()).digest("hex");
  return join("upstream-operator", `${key.slice(0, 12)}-${set.slice(0, 6)}`);
}

function pathsIn(directory: string): UpstreamOperator {
  const chart = join(directory, "deployment/sriov-network-operator-chart");
  const [operator = "", webhook = "", cleanup = "", daemon = ""] = Object.keys(programs).map((name) =>
    join(directory, "bin", name),
  );
  return { operator, webhook, cleanup, daemon, directory, chart };
}

/** A name for the content of the archive or directory. */
async function keyOfSource(path: string): Promise<string> {
  if (!existsSync(path)) throw new Error(`${upstreamSourceSetting}: "${path}" does not exist`);
  if ((await stat(path)).isDirectory()) return contentKey(path);
  const hash = createHash("sha256").update(await readFile(path));
  return hash.digest("hex").slice(0, 12);
}

/** Returns the root of the sources, unpacked below `tree` if they are in an archive. */
async function openSource(path: string, tree: string): Promise<string> {
  let root = path;
  if (!(await stat(path)).isDirectory()) {
    await promisify(execFile)("tar", ["-xzf", path, "-C", tree]);
    const [only, ...others] = await readdir(tree);
    root = only === undefined || others.length > 0 ? tree : join(tree, only);
  }
  for (const file of ["go.mod", ...keptFiles]) {
    if (existsSync(join(root, file))) continue;
    throw new Error(
      `${upstreamSourceSetting}: "${path}" has no ${file}, so it is not the source of upstream's operator`,
    );
  }
  return root;
}

/** Fetches the commit alone, and returns its root. */
async function fetchCommit(tree: string, { repository, commit }: PublicSources): Promise<string> {
  const env = { ...process.env, GIT_TERMINAL_PROMPT: "0" };
  const git = (...args: readonly string[]) =>
    promisify(execFile)("git", ["-C", tree, ...args], { env, timeout: fetchLimitMs });
  await git("init", "--quiet");
  await git("fetch", "--quiet", "--depth", "1", repository, commit);
  await git("checkout", "--quiet", "FETCH_HEAD");
  return tree;
}

async function build(sources: string, draft: string): Promise<void> {
  process.stderr.write("building upstream's operator with Go; the first time, this takes some minutes ...\n");
  const env = { ...process.env, CGO_ENABLED: "0", GOWORK: "off" };
  for (const [name, path] of Object.entries(programs)) {
    const output = ["-o", join(draft, "bin", name)];
    await promisify(execFile)("go", ["build", "-C", sources, "-trimpath", "-buildvcs=false", ...output, path], { env });
  }
  for (const file of keptFiles) await cp(join(sources, file), join(draft, file), { recursive: true });
}
