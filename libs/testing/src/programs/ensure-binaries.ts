// SPDX-License-Identifier: Apache-2.0
/**
 * ensureBinaries finds the binaries of a control plane. It uses the first of four sources that has all of them: the
 * directory in KUBEBUILDER_ASSETS, the cache, the envtest archive, and a build from Go modules. The last two fill the cache.
 * Usage: `const binaries = await ensureBinaries({ names: ["etcd", "kube-apiserver", "kubectl"] })`.
 */
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { fillCache, missingFrom, openBinaryCache, type BinaryCache, type BinaryName } from "./binary-cache.ts";
import { envtestBinaries, envtestIndexUrl, envtestPlatform, unpackEnvtest } from "./envtest-archive.ts";
import { withFileLock } from "./file-lock.ts";
import { buildWithGo, whyNoGo } from "./go-build.ts";
import { writeToStderr, type WriteLine } from "../progress.ts";
import { TestingError } from "../testing-error.ts";
import { findWorkspaceRoot } from "../workspace-root.ts";

export interface EnsureBinariesOptions {
  /** Default: etcd, kube-apiserver and kubectl. */
  readonly names?: readonly BinaryName[];
  /** Called with a line at least every 2 s during a download or build. Default: writes to stderr. */
  readonly progress?: WriteLine;
  /**
   * Environment variables; process.env by default. The function reads KUBEBUILDER_ASSETS, XDG_CACHE_HOME and
   * SWITCHYARD_ENVTEST_INDEX, the URL of a mirror of the envtest index ("" disables the download).
   */
  readonly env?: Readonly<Record<string, string | undefined>>;
}

/** Returns the names of the binaries of a control plane, with kubectl. */
export function binariesFor({
  nodeProxySocket,
  scheduler = nodeProxySocket !== undefined,
  controllerManager = scheduler,
}: {
  readonly controllerManager?: boolean;
  readonly scheduler?: boolean;
  readonly nodeProxySocket?: string;
}): readonly BinaryName[] {
  return [
    ...envtestBinaries,
    ...(controllerManager ? (["kube-controller-manager"] as const) : []),
    ...(scheduler ? (["kube-scheduler"] as const) : []),
  ];
}

/** A source of binaries. attempt() resolves with their directory or with the reason why it does not have them. */
interface Source {
  readonly name: string;
  readonly attempt: () => Promise<{ readonly directory: string } | { readonly why: string }>;
}

/** Resolves with the directory of all binaries. Rejects with TestingError `binaries`, which has the result of each source. */
export async function ensureBinaries(options: EnsureBinariesOptions = {}): Promise<string> {
  const { names = envtestBinaries, progress = writeToStderr, env = process.env } = options;
  const request = { names, progress, env };
  const moduleDirectory = join(findWorkspaceRoot(), "tools/control-plane");
  const cache = await openBinaryCache(moduleDirectory, env);
  const tried: string[] = [];

  const existing = await firstOf([fromAssets(request), fromCache(request, cache)]);
  if (existing !== undefined) return existing;

  await mkdir(cache.root, { recursive: true });
  const onWait = () => {
    progress(`waiting for another process that is filling ${cache.root}`);
  };
  const made = await withFileLock(join(cache.root, "lock"), { onWait }, async () => {
    const filledMeanwhile = await fromCache(request, cache).attempt();
    if ("directory" in filledMeanwhile) return filledMeanwhile.directory;
    return firstOf([fromArchive(request, cache), fromSources(request, cache, moduleDirectory)]);
  });
  if (made !== undefined) return made;
  throw new TestingError(
    "binaries",
    [
      `cannot find the binaries of the control plane (${names.join(", ")}). Provide one of these sources:`,
      ...tried,
    ].join("\n"),
  );

  async function firstOf(sources: readonly Source[]): Promise<string | undefined> {
    for (const { name, attempt } of sources) {
      const outcome = await attempt();
      if ("directory" in outcome) return outcome.directory;
      tried.push(`  ${tried.length + 1}. ${name}: ${outcome.why}`);
    }
    return undefined;
  }
}

function fromAssets({ names, env }: Required<EnsureBinariesOptions>): Source {
  const directory = env["KUBEBUILDER_ASSETS"] ?? "";
  return {
    name: "the directory in KUBEBUILDER_ASSETS",
    attempt: async () => (directory === "" ? { why: "not set" } : checkComplete(directory, names)),
  };
}

function fromCache({ names }: Required<EnsureBinariesOptions>, cache: BinaryCache): Source {
  return {
    name: "the cache of an earlier run",
    async attempt() {
      const envtest = await checkComplete(cache.directory("envtest"), names);
      return "directory" in envtest ? envtest : checkComplete(cache.directory("go"), names);
    },
  };
}

function fromArchive({ names, env, progress }: Required<EnsureBinariesOptions>, cache: BinaryCache): Source {
  const indexUrl = env["SWITCHYARD_ENVTEST_INDEX"] ?? envtestIndexUrl;
  const platform = envtestPlatform();
  const directory = cache.directory("envtest");
  const { kubernetes } = cache.versions;
  return {
    name: "the envtest archive",
    async attempt() {
      if (indexUrl === "") return { why: "disabled by SWITCHYARD_ENVTEST_INDEX" };
      const lacking = names.filter((name) => !envtestBinaries.includes(name));
      if (lacking.length > 0) return { why: `does not contain ${lacking.join(", ")}` };
      progress(`downloading ${indexUrl}`);
      // Where Go can build them instead, a network that is slow or closed should cost little time.
      const canBuild = (await whyNoGo(cache.versions.go, env)) === undefined;
      const reachWithinMs = canBuild ? 3_000 : 30_000;
      return fill(directory, names, (outDirectory) =>
        unpackEnvtest({ indexUrl, kubernetes, platform, outDirectory, write: progress, reachWithinMs }),
      );
    },
  };
}

function fromSources(request: Required<EnsureBinariesOptions>, cache: BinaryCache, moduleDirectory: string): Source {
  const { names, env, progress } = request;
  const { versions } = cache;
  const directory = cache.directory("go");
  return {
    name: `a build of ${moduleDirectory} by Go ${versions.go} or later`,
    async attempt() {
      const noGo = await whyNoGo(versions.go, env);
      if (noGo !== undefined) return { why: noGo };
      const unbuilt = await missingFrom(directory, names);
      return fill(directory, names, (outDirectory) =>
        buildWithGo({ moduleDirectory, names: unbuilt, outDirectory, versions, env, write: progress }),
      );
    },
  };
}

async function fill(directory: string, names: readonly BinaryName[], put: (outDirectory: string) => Promise<void>) {
  try {
    await fillCache(directory, put);
  } catch (error) {
    return { why: error instanceof TestingError ? error.message : String(error) };
  }
  return checkComplete(directory, names);
}

/** Resolves with the directory if it has all binaries. */
async function checkComplete(directory: string, names: readonly BinaryName[]) {
  const missing = await missingFrom(directory, names);
  return missing.length === 0 ? { directory } : { why: `no ${missing.join(", ")} in ${directory}` };
}
