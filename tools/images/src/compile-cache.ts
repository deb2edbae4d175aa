// SPDX-License-Identifier: Apache-2.0
/**
 * writeCompileCache adds Node's compile cache to a bundled app: the compiled code of the modules that the app loads at its start.
 * It is the same at each build, because the app has a fixed path meanwhile and V8's hashes a fixed seed. Node ignores it
 * with another version, other V8 flags or another user.
 * Usage: `await writeCompileCache(join(layer, "app"), "/usr/bin/node");`
 */
import { frugalFlags } from "@switchyard/service/memory";
import { runProgram } from "./run-program.ts";

/** The variables (NAME=VALUE) by which Node uses the cache of the app in this directory. The Containerfile has them, too. */
export function compileCacheSettings(app: string): readonly string[] {
  return [`NODE_COMPILE_CACHE=${app}/compile-cache`, "NODE_COMPILE_CACHE_PORTABLE=1"];
}

/** `app` is a directory with the main.js of a frugal service, whose --help loads all that a start loads. Rejects with ImagesError. */
export async function writeCompileCache(app: string, node: string): Promise<void> {
  const start = [
    "env",
    ...compileCacheSettings("/mnt/app"),
    "/mnt/node",
    "--random-seed=1",
    ...frugalFlags,
    "/mnt/app/main.js",
    "--help",
  ];
  // A mount namespace of its own: the rest of the machine does not see these mounts.
  const script = [
    ...["mount -t tmpfs none /mnt", "mkdir /mnt/app", "touch /mnt/node"],
    ...['mount --bind "$1" /mnt/app', 'mount --bind "$2" /mnt/node', "shift 2", 'exec "$@"'],
  ].join(" && ");
  // Node uses only the cache of the same user, which is root on a node.
  const asRoot = process.getuid?.() === 0 ? [] : ["--map-root-user"];
  await runProgram("unshare", [...asRoot, "--mount", "sh", "-c", script, "sh", app, node, ...start]);
}
