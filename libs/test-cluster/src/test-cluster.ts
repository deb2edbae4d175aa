// SPDX-License-Identifier: Apache-2.0
/**
 * startTestCluster starts a real API server with Switchyard's CRDs and the operator, each in its own process.
 * Usage: `await using cluster = await startTestCluster(silentNarrator);`
 */
import { connect, type Transport } from "@switchyard/kube";
import {
  binariesFor,
  ensureBinaries,
  findWorkspaceRoot,
  spawnGuarded,
  startControlPlane,
  type ControlPlane,
  type GuardedProcess,
} from "@switchyard/testing";
import { spawn } from "node:child_process";
import { cp, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import type { Narrator } from "./narrator.ts";

/** Namespace of the operator: upstream's default. */
export const namespace = "sriov-network-operator";

export interface TestCluster extends AsyncDisposable {
  readonly cluster: ControlPlane;
  readonly transport: Transport;
  /** Directory for sockets and logs, which is deleted at the end. Files `*.log` are kept where SWITCHYARD_TEST_LOGS says. */
  readonly directory: string;
  /** Starts a TypeScript program of the workspace, which ends with the cluster. It logs to `<name>.log` in the directory. */
  start(name: string, script: string, args: readonly string[]): GuardedProcess;
  /** Runs kubectl with `input` as stdin. Shows the command and its output. */
  kubectl(args: readonly string[], input?: unknown): Promise<string>;
  /** Path of the kubectl of the control plane. */
  readonly kubectlFile: string;
  /** Disposes of the resource when the cluster ends, in reverse order of the calls. */
  use<T extends AsyncDisposable>(resource: T): T;
}

export interface TestClusterOptions {
  /** Additional flags of the operator. */
  readonly operatorFlags?: readonly string[];
  /** Also run kube-scheduler and kube-controller-manager, so that pods need no node, and Deployments have pods. */
  readonly scheduler?: boolean;
}

export async function startTestCluster(
  narrator: Narrator,
  { operatorFlags = [], scheduler = false }: TestClusterOptions = {},
): Promise<TestCluster> {
  const stack = new AsyncDisposableStack();
  try {
    const binaries = await ensureBinaries({
      names: binariesFor({ scheduler }),
      progress: (line) => {
        narrator.line("set-up", line);
      },
    });
    const directory = await mkdtemp(join(socketParent(tmpdir()), "switchyard-demo-"));
    stack.defer(() => rm(directory, { recursive: true, force: true }));
    stack.defer(() => keepLogs(directory, process.env["SWITCHYARD_TEST_LOGS"]));
    narrator.line("set-up", `starting etcd and kube-apiserver${scheduler ? ", scheduler and controller manager" : ""}`);
    const controlPlane = stack.use(await startControlPlane({ binaries, scheduler }));
    await controlPlane.applyCrds(join(findWorkspaceRoot(), "charts/switchyard/crds"));
    await controlPlane.applyCrds(join(findWorkspaceRoot(), "libs/testing/testdata/multus"));
    await controlPlane.kubectl(["create", "namespace", namespace]);
    const transport = stack.use(await connect({ kubeconfig: controlPlane.kubeconfig }));
    narrator.line("set-up", `API server ready at ${controlPlane.server}, CRDs installed`);

    const cluster: Omit<TestCluster, keyof AsyncDisposable> = {
      cluster: controlPlane,
      transport,
      directory,
      kubectlFile: join(binaries, "kubectl"),
      use: (resource) => stack.use(resource),
      start(name, script, args) {
        const common = ["--kubeconfig", controlPlane.kubeconfig, "--namespace", namespace];
        const file = join(findWorkspaceRoot(), script);
        const started = spawnGuarded(process.execPath, [file, ...common, ...args], {
          log: join(directory, `${name}.log`),
        });
        stack.defer(() => started.kill());
        return started;
      },
      async kubectl(args, input) {
        narrator.line("$ kubectl", args.join(" "));
        const output = await runKubectl(cluster.kubectlFile, controlPlane.kubeconfig, args, input);
        narrator.output(output);
        return output;
      },
    };
    cluster.start("operator", "apps/operator/src/main.ts", operatorFlags);
    return { ...cluster, [Symbol.asyncDispose]: () => stack.disposeAsync() };
  } catch (error) {
    await stack.disposeAsync();
    throw error;
  }
}

/**
 * Returns the parent for directories with Unix sockets, whose paths have at most 103 bytes on macOS and 107 on Linux. Those of a simulated
 * kubelet need 80 bytes below it. The temporary directory of a user of macOS has 49.
 */
export function socketParent(temporary: string): string {
  return Buffer.byteLength(temporary) > 23 ? "/tmp" : temporary;
}

/** Returns the output of kubectl, including its errors, which the demo shows. */
async function runKubectl(file: string, kubeconfig: string, args: readonly string[], input: unknown): Promise<string> {
  const child = spawn(file, ["--kubeconfig", kubeconfig, "--namespace", namespace, ...args]);
  const chunks: Buffer[] = [];
  child.stdout.on("data", (chunk: Buffer) => chunks.push(chunk));
  child.stderr.on("data", (chunk: Buffer) => chunks.push(chunk));
  child.stdin.on("error", () => undefined); // kubectl may end without reading it; its output says why
  child.stdin.end(input === undefined ? "" : JSON.stringify(input));
  await new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  });
  return Buffer.concat(chunks).toString();
}

/**
 * keepLogs keeps the logs of a test cluster, which would be deleted with it, so that a failure of a test can be explained.
 * Copies the files `*.log` of `directory` to a directory of the same name in `target`. Does nothing without `target`.
 */
async function keepLogs(directory: string, target: string | undefined): Promise<void> {
  if (target === undefined || target === "") return;
  const logs = (await readdir(directory)).filter((name) => name.endsWith(".log"));
  for (const name of logs) await cp(join(directory, name), join(target, basename(directory), name));
}
