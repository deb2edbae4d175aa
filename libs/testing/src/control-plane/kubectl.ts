// SPDX-License-Identifier: Apache-2.0
/**
 * runKubectl runs kubectl for one server. It does not use the user's own kubeconfig and caches.
 * Usage: `await runKubectl("/cache/kubectl", ["get", "nodes", "-o", "json"], { kubeconfig })`.
 */
import { execFile } from "node:child_process";
import { dirname, join } from "node:path";
import { TestingError } from "../testing-error.ts";

export interface KubectlOptions {
  readonly kubeconfig: string;
  /** Text for stdin, for `-f -`. */
  readonly input?: string;
  /** After this time, in milliseconds, kubectl is ended. Default: 150,000. */
  readonly limitMs?: number;
}

const dumpMs = 5_000;

/**
 * Resolves with stdout. Rejects with TestingError `kubectl`, which has the arguments and stderr; after a time-out, this
 * contains the stacks of kubectl.
 */
export function runKubectl(file: string, args: readonly string[], options: KubectlOptions): Promise<string> {
  const { kubeconfig, input, limitMs = 150_000 } = options;
  const cache = join(dirname(kubeconfig), "kubectl-cache");
  const env = { ...process.env, KUBECONFIG: kubeconfig, KUBECACHEDIR: cache, KUBERC: "off" };
  return new Promise((resolve, reject) => {
    const running = execFile(file, args, { env, maxBuffer: 256 * 1024 * 1024 }, (cause, stdout, stderr) => {
      clearTimeout(dump);
      clearTimeout(end);
      if (cause === null) resolve(stdout);
      else
        reject(new TestingError("kubectl", `kubectl ${args.join(" ")}: ${stderr || cause.message}`, { cause, stderr }));
    });
    // A Go program prints the stacks of its goroutines and ends. kubectl itself handles SIGQUIT.
    const dump = setTimeout(() => running.kill("SIGABRT"), limitMs);
    const end = setTimeout(() => {
      running.kill("SIGKILL");
      const how =
        running.exitCode === null ? "did not end" : `exited with ${running.exitCode}, but its output did not end`;
      reject(new TestingError("kubectl", `kubectl ${args.join(" ")}: ${how} within ${limitMs} ms`));
    }, limitMs + dumpMs);
    running.stdin?.on("error", () => undefined); // EPIPE: kubectl ended before it read all input
    running.stdin?.end(input);
  });
}
