// SPDX-License-Identifier: Apache-2.0
/**
 * What every story plays on: a real API server with our CRDs and the operator, as processes of their own.
 * Usage: `await using stage = await startTestCluster(narrator);`
 */
import { connect, type Transport } from "@switchyard/kube";
import {
  ensureBinaries,
  findWorkspaceRoot,
  spawnGuarded,
  startControlPlane,
  type ControlPlane,
  type GuardedProcess,
} from "@switchyard/testing";
import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Narrator } from "./narrator.ts";

/** The operator's namespace, upstream's default. */
export const namespace = "sriov-network-operator";

export interface TestCluster extends AsyncDisposable {
  readonly cluster: ControlPlane;
  readonly transport: Transport;
  /** For sockets and logs; gone at the end. */
  readonly directory: string;
  /** Starts one of our TypeScript programs; it ends with the stage. Its log is `<name>.log` in the directory. */
  start(name: string, script: string, args: readonly string[]): GuardedProcess;
  /** Runs kubectl, shown as a user would type it; `input` goes to its stdin. What it prints is told. */
  kubectl(args: readonly string[], input?: unknown): Promise<string>;
  /** The kubectl that came with the control plane. */
  readonly kubectlFile: string;
  /** Disposes of the resource when the cluster ends, in reverse order of the calls. */
  use<T extends AsyncDisposable>(resource: T): T;
}

export async function startTestCluster(narrator: Narrator): Promise<TestCluster> {
  const stack = new AsyncDisposableStack();
  try {
    const binaries = await ensureBinaries({
      progress: (line) => {
        narrator.line("set-up", line);
      },
    });
    const directory = await mkdtemp(join(tmpdir(), "switchyard-demo-"));
    stack.defer(() => rm(directory, { recursive: true, force: true }));
    narrator.line("set-up", "starting etcd and kube-apiserver");
    const cluster = stack.use(await startControlPlane({ binaries }));
    await cluster.applyCrds(join(findWorkspaceRoot(), "charts/switchyard/crds"));
    await cluster.applyCrds(join(findWorkspaceRoot(), "libs/testing/testdata/multus"));
    await cluster.kubectl(["create", "namespace", namespace]);
    const transport = stack.use(await connect({ kubeconfig: cluster.kubeconfig }));
    narrator.line("set-up", `API server ready at ${cluster.server}, CRDs installed`);

    const stage: Omit<TestCluster, keyof AsyncDisposable> = {
      cluster,
      transport,
      directory,
      kubectlFile: join(binaries, "kubectl"),
      use: (resource) => stack.use(resource),
      start(name, script, args) {
        const common = ["--kubeconfig", cluster.kubeconfig, "--namespace", namespace];
        const file = join(findWorkspaceRoot(), script);
        const started = spawnGuarded(process.execPath, [file, ...common, ...args], {
          log: join(directory, `${name}.log`),
        });
        stack.defer(() => started.kill());
        return started;
      },
      async kubectl(args, input) {
        narrator.line("$ kubectl", args.join(" "));
        const output = await runKubectl(stage.kubectlFile, cluster.kubeconfig, args, input);
        narrator.output(output);
        return output;
      },
    };
    stage.start("operator", "apps/operator/src/main.ts", []);
    return { ...stage, [Symbol.asyncDispose]: () => stack.disposeAsync() };
  } catch (error) {
    await stack.disposeAsync();
    throw error;
  }
}

/** What kubectl writes, refusals included: they are part of the story. */
async function runKubectl(file: string, kubeconfig: string, args: readonly string[], input: unknown): Promise<string> {
  const child = spawn(file, ["--kubeconfig", kubeconfig, "--namespace", namespace, ...args]);
  const chunks: Buffer[] = [];
  child.stdout.on("data", (chunk: Buffer) => chunks.push(chunk));
  child.stderr.on("data", (chunk: Buffer) => chunks.push(chunk));
  child.stdin.end(input === undefined ? "" : JSON.stringify(input));
  await new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  });
  return Buffer.concat(chunks).toString();
}
