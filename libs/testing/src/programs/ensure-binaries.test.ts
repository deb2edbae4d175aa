// SPDX-License-Identifier: Apache-2.0
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ensureBinaries } from "./ensure-binaries.ts";
import { TestingError } from "../testing-error.ts";

describe("ensureBinaries", () => {
  let directory: string;
  let env: Record<string, string>;
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), "ensure-binaries-"));
    env = { XDG_CACHE_HOME: directory, SWITCHYARD_ENVTEST_INDEX: "", PATH: join(directory, "bin") };
    await mkdir(join(directory, "bin"));
  });
  afterEach(() => rm(directory, { recursive: true }));

  // Two kinds of `go`. Both write only a file for the requested binary.
  async function installGo(version: string): Promise<void> {
    const script = `#!/bin/sh
if [ "$1" = env ]; then echo ${version}; exit; fi
while [ "$1" != -o ]; do shift; done
echo "$3" > "$2"; /bin/chmod +x "$2"
`;
    await writeFile(join(directory, "bin/go"), script, { mode: 0o755 });
  }

  const failure = async (names: Parameters<typeof ensureBinaries>[0]) => {
    const error: unknown = await ensureBinaries({ ...names, env, progress: () => undefined }).catch((e: unknown) => e);
    return error instanceof TestingError ? error : undefined;
  };

  it("names all four sources and the reasons when none works", async () => {
    const error = await failure({});
    expect(error?.code).toBe("binaries");
    expect(error?.message.split("\n").slice(1)).toEqual([
      "  1. the directory in KUBEBUILDER_ASSETS: not set",
      expect.stringMatching(/^ {2}2\. the cache of an earlier run: no etcd, kube-apiserver, kubectl in /),
      "  3. the envtest archive: disabled by SWITCHYARD_ENVTEST_INDEX",
      expect.stringMatching(/^ {2}4\. a build of .*tools\/control-plane by Go 1\.26 or later: `go` is not in PATH$/),
    ]);
  });

  it("uses KUBEBUILDER_ASSETS if it has all binaries, and reports missing ones", async () => {
    const assets = join(directory, "bin");
    env = { ...env, KUBEBUILDER_ASSETS: assets };
    await writeFile(join(assets, "etcd"), "", { mode: 0o755 });
    expect(await ensureBinaries({ names: ["etcd"], env, progress: () => undefined })).toBe(assets);
    expect((await failure({ names: ["etcd", "kubectl"] }))?.message).toContain(`no kubectl in ${assets}`);
  });

  it("builds once and later builds only missing binaries", async () => {
    await installGo("go1.26.8");
    const lines: string[] = [];
    const progress = (line: string) => void lines.push(line);
    const first = await ensureBinaries({ names: ["etcd"], env, progress });
    const second = await ensureBinaries({ names: ["etcd", "kube-apiserver"], env, progress });
    const third = await ensureBinaries({ names: ["kube-apiserver"], env, progress });
    expect([second, third]).toEqual([first, first]);
    const steps = lines.filter((line) => !line.includes(": done in ")).map((line) => line.replace(/;.*/, ""));
    expect(steps).toEqual(["building etcd (1 of 1", "building kube-apiserver (1 of 1"]);
  });

  it("does not try a Go that is too old", async () => {
    await installGo("go1.25.9");
    expect((await failure({}))?.message).toContain("go1.25.9 is older than 1.26");
  });
});
