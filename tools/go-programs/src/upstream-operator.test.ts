// SPDX-License-Identifier: Apache-2.0
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { missingUpstreamOperator, upstreamOperator } from "./upstream-operator.ts";

let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "switchyard-source-"));
  await writeFile(join(directory, "go.mod"), "module example.com/other\n");
});

afterAll(async () => {
  await rm(directory, { recursive: true });
});

describe("missingUpstreamOperator", () => {
  const from = () => ({
    repository: join(directory, "no-repository"),
    commit: "0123456789abcdef0123456789abcdef01234567",
  });

  it("says why the sources are missing, and how to give them, if their repository does not answer", () => {
    expect(missingUpstreamOperator({}, from())).toMatch(
      /cannot be fetched from .*no-repository: .+; set SWITCHYARD_UPSTREAM_SOURCE to an archive or a directory of commit 0123456789ab$/,
    );
  });

  it("is content with the setting, whose path the build examines", () => {
    expect(missingUpstreamOperator({ SWITCHYARD_UPSTREAM_SOURCE: directory }, from())).toBeUndefined();
  });
});

describe("upstreamOperator", () => {
  it.each([
    { what: "a path that does not exist", path: () => join(directory, "none.tar.gz"), words: "does not exist" },
    { what: "a directory of something else", path: () => directory, words: "has no bindata" },
  ])("refuses $what: a wrong setting is no reason to skip tests", async ({ path, words }) => {
    await expect(upstreamOperator({ SWITCHYARD_UPSTREAM_SOURCE: path() })).rejects.toThrow(words);
  });
});
