// SPDX-License-Identifier: Apache-2.0
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { mkdir, mkdtemp, readdir, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fillCache, missingFrom, openBinaryCache, readVersions } from "./binary-cache.ts";

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "binary-cache-"));
});
afterEach(() => rm(directory, { recursive: true }));

describe("readVersions", () => {
  it("reads versions in a block or in a single line", () => {
    const block =
      "go 1.26.0\n\nrequire (\n\tgo.etcd.io/etcd/server/v3 v3.6.16\n\tk8s.io/kubernetes v1.36.3 // indirect\n)\n";
    const single = "go 1.26.0\nrequire k8s.io/kubernetes v1.36.3\nrequire go.etcd.io/etcd/server/v3 v3.6.16\n";
    const versions = { kubernetes: "1.36.3", etcd: "3.6.16", go: "1.26" };
    expect([readVersions(block), readVersions(single)]).toEqual([versions, versions]);
  });
});

describe("openBinaryCache", () => {
  it("uses another directory when a version or a checksum changes", async () => {
    const env = { XDG_CACHE_HOME: "/cache" };
    const rootFor = async (goMod: string, goSum: string) => {
      await writeFile(join(directory, "go.mod"), goMod);
      await writeFile(join(directory, "go.sum"), goSum);
      return (await openBinaryCache(directory, env)).root;
    };
    const goMod = "go 1.26.0\nrequire k8s.io/kubernetes v1.36.3\nrequire go.etcd.io/etcd/server/v3 v3.6.16\n";
    const roots = [await rootFor(goMod, "a"), await rootFor(goMod, "b"), await rootFor(`${goMod}\n`, "a")];
    expect(roots[0]).toMatch(/^\/cache\/switchyard\/control-plane\/k8s-1\.36\.3-etcd-3\.6\.16-\w+-\w+-[0-9a-f]{12}$/);
    expect(new Set(roots).size).toBe(3);
  });
});

describe("missingFrom", () => {
  it("returns binaries that do not exist or are not executable", async () => {
    await writeFile(join(directory, "etcd"), "", { mode: 0o755 });
    await writeFile(join(directory, "kubectl"), "", { mode: 0o644 });
    expect(await missingFrom(directory, ["etcd", "kubectl", "kube-apiserver"])).toEqual(["kubectl", "kube-apiserver"]);
  });
});

describe("fillCache", () => {
  it("moves all files at the end and none after a failure", async () => {
    const target = join(directory, "go");
    const failing = fillCache(target, async (temporary) => {
      await writeFile(join(temporary, "etcd"), "half");
      throw new Error("disk full");
    });
    await expect(failing).rejects.toThrow("disk full");
    expect([await readdir(directory), await readdir(target)]).toEqual([["go"], []]);

    await fillCache(target, (temporary) => writeFile(join(temporary, "etcd"), "whole"));
    expect([await readdir(directory), await readdir(target)]).toEqual([["go"], ["etcd"]]);
  });

  it("removes directories of killed processes after a day", async () => {
    const [old, fresh] = [join(directory, "go.tmp-old"), join(directory, "go.tmp-new")];
    await mkdir(old);
    await mkdir(fresh);
    const twoDaysAgo = new Date(Date.now() - 2 * 24 * 60 * 60 * 1000);
    await utimes(old, twoDaysAgo, twoDaysAgo);
    await fillCache(join(directory, "go"), () => Promise.resolve());
    expect((await readdir(directory)).toSorted()).toEqual(["go", "go.tmp-new"]);
  });
});
