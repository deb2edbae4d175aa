// SPDX-License-Identifier: Apache-2.0
/** Completion of the command line, as bash and kubectl ask for it: names come from a real cluster. */
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { runProgram, startControlPlane, type ControlPlane } from "@switchyard/testing";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { workspace } from "../../src/crds/crd-objects.ts";

const stack = new AsyncDisposableStack();
let cluster: ControlPlane;
let script: string;

beforeAll(async () => {
  cluster = stack.use(await startControlPlane());
  const directory = await mkdtemp(join(tmpdir(), "switchyard-completion-"));
  stack.defer(() => rm(directory, { recursive: true, force: true }));
  script = join(directory, "kubectl_complete-switchyard");
  const main = join(workspace, "apps/cli/src/main.ts");
  const { stdout } = await runProgram(process.execPath, [main, "completion", "kubectl"]);
  await writeFile(script, stdout, { mode: 0o755 });
  const nodes = ["worker-1", "worker-2"].map((name) => ({ apiVersion: "v1", kind: "Node", metadata: { name } }));
  await cluster.kubectl(["apply", "-f", "-"], {
    input: JSON.stringify({ apiVersion: "v1", kind: "List", items: nodes }),
  });
}, 300_000);
afterAll(() => stack.disposeAsync(), 60_000);

/** The completions of the last word, and the directive. */
async function complete(words: readonly string[], kubeconfig = cluster.kubeconfig): Promise<readonly string[]> {
  const path = [cluster.binaries, process.env["PATH"] ?? ""].join(delimiter);
  const { stdout } = await runProgram("bash", [script, ...words], {
    env: { ...process.env, PATH: path, KUBECONFIG: kubeconfig },
  });
  return stdout.trim().split("\n");
}

describe("kubectl_complete-switchyard", () => {
  it("completes verbs, flags, values, and names of the cluster and its kubeconfig", async () => {
    expect(await complete(["doc"])).toEqual(["doctor", ":4"]);
    expect(await complete(["doctor", "--resource-p"])).toEqual(["--resource-prefix", ":4"]);
    expect(await complete(["render", "--operation", "x"])).toEqual([":4"]);
    expect(await complete(["plan", "--node", ""])).toEqual(["worker-1", "worker-2", ":4"]);
    expect(await complete(["doctor", "-n", "kube-s"])).toEqual(["kube-system", ":4"]);
    const [context] = (await cluster.kubectl(["config", "get-contexts", "-o", "name"])).trim().split("\n");
    expect(await complete(["doctor", "--context", ""])).toEqual([context, ":4"]);
  });

  it("completes nothing where there is no cluster", async () => {
    expect(await complete(["plan", "--node", ""], "/dev/null")).toEqual([":4"]);
  });
});
