// SPDX-License-Identifier: Apache-2.0
/**
 * rustProgram returns the path of a program of another project, built from its crate with the lock file of the crate. A version of a
 * crate never changes, so it is the key in the user's cache. Cargo runs with low priority, because a build takes minutes.
 * Usage: `const bpfman = await rustProgram("bpfman-rpc");`
 */
import { execFile } from "node:child_process";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { cachedDirectory } from "@switchyard/testing/user-cache";

/** Names of the programs. */
export type RustProgramName = keyof typeof known;

const known = {
  "bpfman-rpc": { crate: "bpfman-api", version: "0.6.0", needs: ["cargo", "clang", "make", "pkg-config", "gcc"] },
} as const;

const run = promisify(execFile);

/** Rejects if a tool is missing or the build fails. */
export async function rustProgram(name: RustProgramName): Promise<string> {
  const { crate, version, needs } = known[name];
  const built = await cachedDirectory(join(name, version), async (draft) => {
    for (const tool of needs) {
      await run("which", [tool]).catch(() => {
        throw new Error(
          `${tool} is missing: tools/rust-programs/README.md has the packages that a build of ${name} needs`,
        );
      });
    }
    process.stderr.write(`building ${name} ${version} with Cargo; this takes about ten minutes ...\n`);
    const args = ["install", crate, "--version", version, "--locked", "--bin", name, "--root", draft, "--quiet"];
    const target = process.env["CARGO_TARGET_DIR"] ?? join(draft, "target");
    const env = { ...process.env, CARGO_TARGET_DIR: target, C_INCLUDE_PATH: await includePath() };
    await run("nice", ["-n", "15", "cargo", ...args], { env, maxBuffer: 64 << 20 });
    await rm(join(draft, "target"), { recursive: true, force: true });
  });
  return join(built, "bin", name);
}

/** Clang for BPF does not search the directory in which Debian has the headers of the processor (asm/types.h). */
async function includePath(): Promise<string> {
  const { stdout } = await run("gcc", ["-print-multiarch"]);
  return join("/usr/include", stdout.trim());
}
