// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { architectureNames } from "../app-image.ts";
import { readLock } from "./archive.ts";
import { isKept, packageSets } from "./package-sets.ts";

describe("isKept", () => {
  it.each([
    ["usr/share/doc/libc6/copyright", true],
    ["usr/share/doc/libc6/changelog.Debian.gz", false],
    ["usr/share/common-licenses/GPL-3", true],
    ["usr/share/man/man1/mstconfig.1.gz", false],
    ["usr/share/mstflint/mlxconfig_dbs/mlxconfig_host.db", true],
    ["usr/share/mstflint/ConnectX7.csv", false],
    ["usr/lib/x86_64-linux-gnu/libc.so.6", true],
    ["usr/lib/aarch64-linux-gnu/gconv/UTF-16.so", false],
    ["etc/os-release", true],
    ["tmp/", true],
  ])("%s: %s", (path, kept) => {
    expect(isKept(path)).toBe(kept);
  });
});

it("packages.lock.json has the packages of all sets, for all architectures, and no others", async () => {
  const names = [...new Set<string>(Object.values(packageSets).flatMap(({ packages }) => [...packages]))];
  const { packages } = await readLock();
  for (const architecture of architectureNames) {
    expect(Object.keys(packages[architecture])).toEqual(names.sort());
    for (const { path, sha256 } of Object.values(packages[architecture])) {
      expect(path).toMatch(new RegExp(`_(?:${architecture}|all)\\.deb$`));
      expect(sha256).toMatch(/^[0-9a-f]{64}$/);
    }
  }
});
