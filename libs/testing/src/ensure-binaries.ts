// SPDX-License-Identifier: Apache-2.0
/**
 * The binaries of a control plane, from the first of four places that has them all (control-plane.md): the directory in
 * KUBEBUILDER_ASSETS, our cache, the envtest archive, a build from Go modules. The last two fill the cache.
 * Usage: `const binaries = await ensureBinaries({ names: ["etcd", "kube-apiserver", "kubectl"] })`
 */
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { fillCache, missingFrom, openBinaryCache, type BinaryCache, type BinaryName } from "./binary-cache.ts";
import { envtestBinaries, envtestIndexUrl, unpackEnvtest } from "./envtest-archive.ts";
import { withFileLock } from "./file-lock.ts";
import { buildWithGo, whyNoGo } from "./go-build.ts";
import { writeToStderr, type WriteLine } from "./progress.ts";
import { TestingError } from "./testing-error.ts";
import { findWorkspaceRoot } from "./workspace-root.ts";

export interface EnsureBinariesOptions {
  /** Default: etcd, kube-apiserver and kubectl. */
  readonly names?: readonly BinaryName[];
  /** Takes a line at least every 2 s while it works. Default: to stderr. */
  readonly progress?: WriteLine;
  /**
   * Default: the process's. Read here: KUBEBUILDER_ASSETS, XDG_CACHE_HOME, and SWITCHYARD_ENVTEST_INDEX, the address of a
   * mirror of the envtest index ("" to not look for an archive at all).
   */
  readonly env?: Readonly<Record<string, string | undefined>>;
}

/** What a control plane is made of, and kubectl. */
export function binariesFor({
  controllerManager = false,
}: {
  readonly controllerManager?: boolean;
}): readonly BinaryName[] {
  return controllerManager ? [...envtestBinaries, "kube-controller-manager"] : envtestBinaries;
}

/** One way to have them: where they are now, or why it does not work. */
interface Way {
  readonly name: string;
  readonly attempt: () => Promise<{ readonly directory: string } | { readonly why: string }>;
}

/** The directory that holds all of them. Rejects with TestingError `binaries`, which names each way and what came of it. */
export async function ensureBinaries(options: EnsureBinariesOptions = {}): Promise<string> {
  const { names = envtestBinaries, progress = writeToStderr, env = process.env } = options;
  const request = { names, progress, env };
  const moduleDirectory = join(findWorkspaceRoot(), "tools/control-plane");
  const cache = await openBinaryCache(moduleDirectory, env);
  const tried: string[] = [];

  const atHand = await firstOf([fromAssets(request), fromCache(request, cache)]);
  if (atHand !== undefined) return atHand;

  await mkdir(cache.root, { recursive: true });
  const onWait = () => {
    progress(`waiting for another process that fills ${cache.root}`);
  };
  const made = await withFileLock(join(cache.root, "lock"), { onWait }, async () => {
    const filledMeanwhile = await fromCache(request, cache).attempt();
    if ("directory" in filledMeanwhile) return filledMeanwhile.directory;
    return firstOf([fromArchive(request, cache), fromSources(request, cache, moduleDirectory)]);
  });
  if (made !== undefined) return made;
  throw new TestingError(
    "binaries",
    [`no control plane to test against (${names.join(", ")}). One of these would do:`, ...tried].join("\n"),
  );

  async function firstOf(ways: readonly Way[]): Promise<string | undefined> {
    for (const { name, attempt } of ways) {
      const outcome = await attempt();
      if ("directory" in outcome) return outcome.directory;
      tried.push(`  ${tried.length + 1}. ${name}: ${outcome.why}`);
    }
    return undefined;
  }
}

function fromAssets({ names, env }: Required<EnsureBinariesOptions>): Way {
  const directory = env["KUBEBUILDER_ASSETS"] ?? "";
  return {
    name: "a directory named by KUBEBUILDER_ASSETS",
    attempt: async () => (directory === "" ? { why: "not set" } : whole(directory, names)),
  };
}

function fromCache({ names }: Required<EnsureBinariesOptions>, cache: BinaryCache): Way {
  return {
    name: "the cache of an earlier run",
    async attempt() {
      const envtest = await whole(cache.directory("envtest"), names);
      return "directory" in envtest ? envtest : whole(cache.directory("go"), names);
    },
  };
}

function fromArchive({ names, env, progress }: Required<EnsureBinariesOptions>, cache: BinaryCache): Way {
  const indexUrl = env["SWITCHYARD_ENVTEST_INDEX"] ?? envtestIndexUrl;
  const platform = `${process.platform}-${process.arch === "x64" ? "amd64" : process.arch}`;
  const directory = cache.directory("envtest");
  const { kubernetes } = cache.versions;
  return {
    name: "the envtest archive",
    async attempt() {
      if (indexUrl === "") return { why: "switched off by SWITCHYARD_ENVTEST_INDEX" };
      const lacking = names.filter((name) => !envtestBinaries.includes(name));
      if (lacking.length > 0) return { why: `it has no ${lacking.join(", ")}` };
      progress(`looking for ${indexUrl}`);
      return fill(directory, names, (outDirectory) =>
        unpackEnvtest({ indexUrl, kubernetes, platform, outDirectory, write: progress }),
      );
    },
  };
}

function fromSources(request: Required<EnsureBinariesOptions>, cache: BinaryCache, moduleDirectory: string): Way {
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
  return whole(directory, names);
}

async function whole(directory: string, names: readonly BinaryName[]) {
  const missing = await missingFrom(directory, names);
  return missing.length === 0 ? { directory } : { why: `no ${missing.join(", ")} in ${directory}` };
}
