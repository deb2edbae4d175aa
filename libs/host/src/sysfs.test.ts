// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** Returns the packages that a file imports, directly or by other files of this library. */
function packagesOf(file: string, seen = new Set<string>()): ReadonlySet<string> {
  const packages = new Set<string>();
  if (seen.has(file)) return packages;
  seen.add(file);
  for (const [, type, path = ""] of readFileSync(file, "utf8").matchAll(
    /^(?:im|ex)port (type )?.*? from "([^"]+)";/gms,
  )) {
    if (type !== undefined) continue;
    if (!path.startsWith(".")) packages.add(path);
    else for (const name of packagesOf(join(dirname(file), path), seen)) packages.add(name);
  }
  return packages;
}

describe("@switchyard/host/sysfs", () => {
  it("loads neither netlink nor koffi, unlike the whole library", () => {
    expect([...packagesOf(join(__dirname, "index.ts"))]).toContain("@switchyard/netlink");
    expect([...packagesOf(join(__dirname, "sysfs.ts"))].filter((name) => !name.startsWith("node:")).sort()).toEqual([
      "@switchyard/api",
      "@switchyard/service",
    ]);
  });
});
