// SPDX-License-Identifier: Apache-2.0
/**
 * prepareForms prepares the other ways to start eve-bridge that docs/decisions/010-eve-bridge-launcher.md compares.
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { buildSync } from "esbuild";
import type { Program } from "./cni-program.ts";
import type { InstalledPlugin } from "./cni-plugin.ts";

/** One way to start the program. */
export interface Form {
  readonly title: string;
  readonly version: Program;
  /** Absent for a way whose VERSION is already too slow. */
  readonly add?: () => Program;
}

/** Prepares all ways below `directory`. */
export function prepareForms(directory: string, plugin: InstalledPlugin): Form[] {
  const node = process.execPath;
  const bundle = { file: node, args: [plugin.bundle] };
  const module = { file: node, args: [asModule(directory)] };
  return [
    form("bundle, no cache", bundle),
    withCompileCache(directory, form("bundle, Node's compile cache", bundle)),
    form("bundle as an ES module", module),
    { title: "snapshot of a program that echoes", version: snapshot(directory) },
  ];

  function form(title: string, start: Pick<Program, "file" | "args">): Form {
    return { title, version: plugin.version(start), add: () => plugin.add(start) };
  }
}

function withCompileCache(directory: string, { title, version, add }: Form): Form {
  const variable = { NODE_COMPILE_CACHE: join(directory, "compile-cache") };
  const cached = (program: Program) => ({ ...program, env: { ...program.env, ...variable } });
  return { title, version: cached(version), ...(add ? { add: () => cached(add()) } : {}) };
}

function asModule(directory: string): string {
  const outfile = join(directory, "module/eve-bridge.mjs");
  const entry = join(import.meta.dirname, "../../../../apps/eve-bridge/src/main.ts");
  const options = { bundle: true, minify: true, platform: "node", format: "esm", target: "node24" } as const;
  buildSync({ ...options, entryPoints: [entry], outfile });
  return outfile;
}

/** The lower bound for snapshots: a program that contains nothing of the plugin. */
function snapshot(directory: string): Program {
  const home = join(directory, "snapshot");
  mkdirSync(home);
  const [entry, blob] = [join(home, "entry.cjs"), join(home, "snapshot.blob")];
  writeFileSync(
    entry,
    `const fs = require("node:fs");
    require("node:net");
    require("node:v8").startupSnapshot.setDeserializeMainFunction(() => fs.writeSync(1, fs.readFileSync("/dev/stdin")));`,
  );
  spawnSync(process.execPath, ["--snapshot-blob", blob, "--build-snapshot", entry]);
  return { file: "/bin/sh", args: ["-c", `cat | ${process.execPath} --snapshot-blob ${blob}`], stdin: "{}" };
}
