// SPDX-License-Identifier: Apache-2.0
/** Every program starts: integration tests run the daemon's parts without its main.ts, on a fake kernel. */
import { describe, expect, it } from "@jest/globals";
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";

const root = join(__dirname, "../../..");
const apps = readdirSync(join(root, "apps")).filter((app) => existsSync(join(root, "apps", app, "src/main.ts")));

describe("the programs", () => {
  it.each(apps)("%s prints its help", (app) => {
    const main = join(root, "apps", app, "src/main.ts");
    expect(execFileSync(process.execPath, [main, "--help"], { encoding: "utf8" })).toMatch(
      /^Usage: |\n {2}--|\n {2}\w/,
    );
  });
});
