#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
/**
 * `npx switchyard …` in the workspace runs the sources. If the running Node is older than 24, it starts the Node 24 in
 * node_modules. Therefore this file is plain JavaScript.
 */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const main = new URL("../src/main.ts", import.meta.url);

if (Number(process.versions.node.split(".")[0]) >= 24) {
  await import(main.href);
} else {
  const node = join(dirname(fileURLToPath(import.meta.url)), "../../../node_modules/.bin/node");
  if (!existsSync(node)) {
    const how = process.platform === "linux" ? "npm ci installs it" : "install it from https://nodejs.org";
    console.error(`switchyard: requires Node 24 or later, not ${process.version}; ${how}`);
    process.exit(1);
  }
  const { status } = spawnSync(
    node,
    ["--disable-warning=ExperimentalWarning", fileURLToPath(main), ...process.argv.slice(2)],
    {
      stdio: "inherit",
    },
  );
  process.exit(status ?? 128);
}
