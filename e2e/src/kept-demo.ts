// SPDX-License-Identifier: Apache-2.0
/** keepDemo runs the demo with --keep, and kubectl as the last lines of the demo say. */
import { spawn } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { findWorkspaceRoot } from "@switchyard/testing";
import { namespace } from "@switchyard/test-cluster";

/** A demo that has run to its end and keeps its cluster. Disposing it ends the demo. */
export interface KeptDemo extends AsyncDisposable {
  /** The operator's namespace, which kubectl uses. */
  readonly namespace: string;
  /** Path of the page about the cluster. */
  readonly report: string;
  /** Runs kubectl and returns its stdout. Rejects with its stderr if it fails. */
  kubectl(...args: readonly string[]): Promise<string>;
  apply(object: unknown): Promise<void>;
  /** Sends SIGINT and resolves with the exit code. */
  interrupt(): Promise<number | null>;
}

/** Resolves when the demo has run to its end. Rejects with its last lines if it fails. */
export async function keepDemo(args: readonly string[] = []): Promise<KeptDemo> {
  const root = findWorkspaceRoot();
  const demo = spawn(process.execPath, [join(root, "tools/demo/src/main.ts"), "--keep", ...args], {
    cwd: root,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const exited = new Promise<number | null>((resolve) => demo.once("exit", resolve));
  let said = "";
  const facts = await new Promise<{ kubeconfig: string; directory: string; report: string }>((resolve, reject) => {
    demo.stdout.setEncoding("utf8").on("data", (text: string) => {
      said += text;
      const [, kubeconfig] = /^export KUBECONFIG=(.+)$/m.exec(said) ?? [];
      const [, directory] = /^export PATH="\$PATH:(.+)"/m.exec(said) ?? [];
      const [, report] = /^The page about the cluster: (file:.+)$/m.exec(said) ?? [];
      if (kubeconfig !== undefined && directory !== undefined && report !== undefined) {
        resolve({ kubeconfig, directory, report: fileURLToPath(report) });
      }
    });
    void exited.then((code) => {
      reject(new Error(`the demo ended with ${code}:\n${said.slice(-2000)}`));
    });
  });

  async function kubectl(input: string, ...words: readonly string[]): Promise<string> {
    const child = spawn(join(facts.directory, "kubectl"), ["--namespace", namespace, ...words], {
      env: { ...process.env, KUBECONFIG: facts.kubeconfig },
    });
    let [out, complaint] = ["", ""];
    child.stdout.setEncoding("utf8").on("data", (text: string) => (out += text));
    child.stderr.setEncoding("utf8").on("data", (text: string) => (complaint += text));
    child.stdin.on("error", () => undefined); // kubectl may end without reading it; its exit code says whether it failed
    child.stdin.end(input);
    const code = await new Promise((resolve) => child.once("close", resolve));
    if (code !== 0) throw new Error(`kubectl ${words.join(" ")}: ${complaint}`);
    return out;
  }

  return {
    namespace,
    report: facts.report,
    kubectl: (...words) => kubectl("", ...words),
    async apply(object) {
      await kubectl(JSON.stringify(object), "apply", "-f", "-");
    },
    interrupt() {
      demo.kill("SIGINT");
      return exited;
    },
    async [Symbol.asyncDispose]() {
      demo.kill("SIGINT");
      await exited;
    },
  };
}

/**
 * Applies a policy for 4 VFs on the node's port enp1s0f0, changes it to 6 and deletes it. Returns the counts that the
 * node reported.
 */
export async function tryPolicy(demo: KeptDemo, node: string): Promise<readonly number[]> {
  const counts: number[] = [];
  async function seen(numVfs: number): Promise<void> {
    const path = "{.status.interfaces[?(@.name=='enp1s0f0')].numVfs}";
    await demo.kubectl("wait", `sriovnetworknodestate/${node}`, `--for=jsonpath=${path}=${numVfs}`, "--timeout=90s");
    counts.push(numVfs);
  }
  await demo.apply({
    apiVersion: "sriovnetwork.openshift.io/v1",
    kind: "SriovNetworkNodePolicy",
    metadata: { name: "mine", namespace },
    spec: { nodeSelector: {}, nicSelector: { pfNames: ["enp1s0f0"] }, resourceName: "mine", numVfs: 4 },
  });
  await demo.kubectl("wait", "sriovnetworknodepolicy/mine", "--for=condition=Ready", "--timeout=90s");
  await seen(4);
  await demo.kubectl("patch", "sriovnetworknodepolicy", "mine", "--type=merge", "-p", '{"spec":{"numVfs":6}}');
  await seen(6);
  await demo.kubectl("delete", "sriovnetworknodepolicy", "mine");
  await seen(0);
  return counts;
}
