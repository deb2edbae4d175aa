// SPDX-License-Identifier: Apache-2.0
/**
 * runKubectl runs kubectl for one server. It does not use the user's own kubeconfig and caches.
 * Usage: `await runKubectl("/cache/kubectl", ["get", "nodes", "-o", "json"], { kubeconfig })`.
 */
import { execFile } from "node:child_process";
import { dirname, join } from "node:path";
import { TestingError } from "./testing-error.ts";

export interface KubectlOptions {
  readonly kubeconfig: string;
  /** Text for stdin, for `-f -`. */
  readonly input?: string;
}

/** Resolves with stdout. Rejects with TestingError `kubectl`, which has the arguments and stderr. */
export function runKubectl(file: string, args: readonly string[], options: KubectlOptions): Promise<string> {
  const { kubeconfig, input } = options;
  const cache = join(dirname(kubeconfig), "kubectl-cache");
  const env = { ...process.env, KUBECONFIG: kubeconfig, KUBECACHEDIR: cache, KUBERC: "off" };
  return new Promise((resolve, reject) => {
    const running = execFile(file, args, { env, maxBuffer: 256 * 1024 * 1024 }, (cause, stdout, stderr) => {
      if (cause === null) resolve(stdout);
      else
        reject(new TestingError("kubectl", `kubectl ${args.join(" ")}: ${stderr || cause.message}`, { cause, stderr }));
    });
    running.stdin?.on("error", () => undefined); // EPIPE: kubectl ended before it read all input
    running.stdin?.end(input);
  });
}
