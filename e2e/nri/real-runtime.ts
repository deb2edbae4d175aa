// SPDX-License-Identifier: Apache-2.0
/**
 * startRealRuntime starts the NRI side of a container runtime: a program with the package that containerd has for it (go/runtime). It relays
 * events to the plugins that connect.
 */
import { describe } from "@jest/globals";
import { buildGoPrograms } from "@switchyard/go-programs";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";

/** A pod sandbox as the program reads it. */
export interface RuntimePod {
  readonly id: string;
  readonly name: string;
  readonly uid: string;
  readonly namespace: string;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly networkNamespace?: string;
}

export interface RealRuntime extends AsyncDisposable {
  /** Resolves with the error of the event; "" without one. */
  send(event: "RunPodSandbox" | "StopPodSandbox" | "RemovePodSandbox", pod: RuntimePod): Promise<string>;
  /** Sets the pods that plugins are synchronized with from now on. */
  setPods(pods: readonly RuntimePod[]): Promise<void>;
  /** Resolves with the error when the next plugin has been synchronized. */
  synchronized(): Promise<string>;
}

interface Answer {
  readonly event: string;
  readonly error: string;
}

/** Returns the directory of the program, and of the stock CNI plugins bridge and host-local. */
export function buildNriPrograms(): Promise<string> {
  return buildGoPrograms({ sources: join(__dirname, "go"), cacheName: "nri", title: "the NRI side of containerd" });
}

/** Calls describe(), or describe.skip() with the reason if the tests cannot run. */
export function describeWithRuntime(name: string, tests: () => void): void {
  const missing = spawnSync("go", ["version"]).status === 0 ? undefined : "no Go to build the runtime side with";
  if (missing === undefined) {
    describe(name, tests);
    return;
  }
  process.stderr.write(`\n!!! SKIPPED: nri: ${name}: ${missing}\n\n`);
  describe.skip(`${name} (${missing})`, tests);
}

export async function startRealRuntime(socketPath: string): Promise<RealRuntime> {
  const child = spawn(join(await buildNriPrograms(), "runtime"), [socketPath], { stdio: ["pipe", "pipe", "pipe"] });
  const ended = once(child, "close");
  let problems = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (problems += text));
  const answers: Answer[] = [];
  let wake = Promise.withResolvers<undefined>();
  createInterface(child.stdout).on("line", (line) => {
    answers.push(JSON.parse(line) as Answer);
    wake.resolve(undefined);
  });

  async function take(event: string): Promise<string> {
    for (;;) {
      const at = answers.findIndex((answer) => answer.event === event);
      if (at >= 0) return answers.splice(at, 1)[0]?.error ?? "";
      if (child.exitCode !== null) throw new Error(`the runtime side ended: ${problems}`);
      await Promise.race([wake.promise, ended]);
      wake = Promise.withResolvers();
    }
  }

  async function say(message: { readonly event: string }): Promise<string> {
    child.stdin.write(`${JSON.stringify(message)}\n`);
    return take(message.event);
  }

  const runtime: RealRuntime = {
    send: (event, pod) => say(Object.assign({ event }, { pod })),
    async setPods(pods) {
      await say(Object.assign({ event: "Pods" }, { pods }));
    },
    synchronized: () => take("Synchronize"),
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL"); // as a crash of the runtime: the socket stays
      await ended;
    },
  };
  await runtime.setPods([]); // it listens before it reads
  return runtime;
}
