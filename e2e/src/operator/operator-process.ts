// SPDX-License-Identifier: Apache-2.0
/**
 * OperatorProcess is the operator as a process that can be killed and restarted. It connects to the API server by
 * `server`, a URL that needs no credentials, such as a FaultProxy's.
 */
import { spawnGuarded, type GuardedProcess } from "@switchyard/testing";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** How the operator is started. */
export interface OperatorOptions {
  /** Path of the program, for example from bundleApp(). */
  readonly main: string;
  readonly server: string;
  readonly namespace: string;
  /** Directory for the kubeconfig, the log, and Node's compile cache, which makes a start faster. */
  readonly directory: string;
  readonly flags: readonly string[];
}

/** A running operator. Disposing it kills the process. */
export class OperatorProcess implements AsyncDisposable {
  readonly #options: OperatorOptions;
  #process: GuardedProcess | undefined;

  private constructor(options: OperatorOptions) {
    this.#options = options;
  }

  static async start(options: OperatorOptions): Promise<OperatorProcess> {
    const operator = new OperatorProcess(options);
    await writeFile(operator.#kubeconfig, renderKubeconfig(options.server));
    operator.restart();
    return operator;
  }

  /** Starts a new process. The previous one must have ended. */
  restart(): void {
    const { main, namespace, directory, flags } = this.#options;
    const common = ["--kubeconfig", this.#kubeconfig, "--namespace", namespace];
    const env = [`NODE_COMPILE_CACHE=${join(directory, "compile-cache")}`, process.execPath];
    this.#process = spawnGuarded("/usr/bin/env", [...env, main, ...common, ...flags], { log: this.#log });
  }

  /** Kills the process with SIGKILL. */
  async kill(): Promise<void> {
    const killed = this.#process;
    this.#process = undefined;
    await killed?.kill();
  }

  /** Whether the process has ended without kill(). */
  get hasCrashed(): boolean {
    return this.#process?.hasExited() === true;
  }

  /** Resolves with the exit status when the process ends without kill(). */
  async exited(): Promise<number | undefined> {
    return this.#process?.exited;
  }

  /** The log lines of all processes that were started. */
  async readLog(): Promise<readonly string[]> {
    return (await readFile(this.#log, "utf8")).split("\n").filter((line) => line !== "");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
  }

  get #log(): string {
    return join(this.#options.directory, "operator.log");
  }

  get #kubeconfig(): string {
    return join(this.#options.directory, "operator.kubeconfig");
  }
}

function renderKubeconfig(server: string): string {
  return JSON.stringify({
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "proxy", cluster: { server } }],
    users: [{ name: "proxy", user: {} }],
    contexts: [{ name: "proxy", context: { cluster: "proxy", user: "proxy" } }],
    "current-context": "proxy",
  });
}
