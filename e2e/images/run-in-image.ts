// SPDX-License-Identifier: Apache-2.0
/**
 * Starts programs in the unpacked root file system of an image, which is read-only as with readOnlyRootFilesystem, with the
 * environment and the user that a container gets. It uses mount namespaces and chroot instead of a container runtime, which
 * would need control groups.
 */
import { spawn } from "node:child_process";

export interface InImageOptions {
  readonly user: number;
  /** As in the image's configuration. */
  readonly env: readonly string[];
  /** Directories of this machine -> existing directories in the image. They can be written to. */
  readonly mounts?: Readonly<Record<string, string>>;
}

export interface InImage {
  /** Resolves when the output so far contains the text, or the program has ended. */
  printed(text: string): Promise<void>;
  signal(name: "SIGTERM"): void;
  readonly ended: Promise<{ readonly code: number | null; readonly stdout: string; readonly output: string }>;
}

/** The shell becomes the program, so that the program has the signals and the exit code. */
const script = `set -e
root=$1 user=$2 mounts=$3; shift 3
mount --make-rprivate /
mount --bind "$root" "$root"
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
for pair in $mounts; do mount --bind "\${pair%%=*}" "$root\${pair#*=}"; done
mount -o remount,bind,ro "$root"
exec chroot --userspec="$user:0" "$root" "$@"
`;

export function startInImage(root: string, options: InImageOptions, command: readonly string[]): InImage {
  const { user, env, mounts = {} } = options;
  const pairs = Object.entries(mounts).map(([from, to]) => `${from}=${to}`);
  const inner = ["sh", "-c", script, "sh", root, String(user), pairs.join(" "), ...command];
  const child = spawn("unshare", ["--mount", ...inner], {
    env: Object.fromEntries(
      env.map((entry) => [entry.slice(0, entry.indexOf("=")), entry.slice(entry.indexOf("=") + 1)]),
    ),
    stdio: ["ignore", "pipe", "pipe"],
  });
  let stdout = "";
  let output = "";
  const waiting = new Set<() => void>();
  const add = (text: string) => {
    output += text;
    for (const check of waiting) check();
  };
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
    add(text);
  });
  child.stderr.setEncoding("utf8").on("data", add);
  const ended = new Promise<{ code: number | null; stdout: string; output: string }>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => {
      resolve({ code, stdout, output });
    });
  });
  return {
    ended,
    async printed(text) {
      const found = new Promise<void>((resolve) => {
        const check = () => {
          if (output.includes(text)) resolve();
        };
        waiting.add(check);
        check();
      });
      await Promise.race([found, ended]);
    },
    signal(name) {
      child.kill(name);
    },
  };
}
