// SPDX-License-Identifier: Apache-2.0
/**
 * The integration tests that depend on the version of the API server, with the oldest version that Switchyard supports and one in
 * the middle. `npm test` runs them with the newest. docs/reference/compatibility.md has the results.
 */
import { describe, expect, it } from "@jest/globals";
import { goPrograms } from "@switchyard/go-programs";
import { binariesFor, ensureBinaries, findWorkspaceRoot } from "@switchyard/testing";
import { spawn } from "node:child_process";
import { mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

const root = findWorkspaceRoot();
const replaced = ["kube-apiserver", "kube-controller-manager"];

/** What is run, by subject. */
const subjects: Readonly<Record<string, readonly string[]>> = {
  "CRDs and stored objects": ["e2e/integration/crds/crds.test.ts", "e2e/integration/crds/stored-objects.test.ts"],
  "admission policies, identity and rights of nodes": [
    "e2e/integration/security/identity.test.ts",
    "e2e/integration/security/node-rights.test.ts",
    "e2e/integration/security/rights.test.ts",
  ],
  "the admission webhook": ["e2e/integration/admission/webhook.test.ts"],
  "policies, VFs and conditions": ["e2e/integration/policies"],
  "the upgrade hook": ["e2e/integration/commands"],
  "taking over from upstream": ["e2e/upgrade/take-over.test.ts"],
};

/** Returns a directory with the programs of a control plane, of which API server and controller manager have this version. */
async function programsOf(version: "1.30" | "1.33", directory: string): Promise<void> {
  const names = binariesFor({ controllerManager: true });
  const { KUBEBUILDER_ASSETS: _, ...env } = process.env;
  const [older, newest] = [await goPrograms(`kubernetes-${version}`), await ensureBinaries({ names, env })];
  for (const name of names) await symlink(join(replaced.includes(name) ? older : newest, name), join(directory, name));
}

/** Runs test files in a process of their own; rejects with the end of its output if one fails. */
async function runTests(files: readonly string[], env: NodeJS.ProcessEnv): Promise<string> {
  const command = files.every((file) => file.startsWith("e2e/integration/"))
    ? ["test", ...files]
    : ["e2e", ...files.map((file) => file.slice("e2e/".length))];
  const { SWITCHYARD_CONTROL_PLANES: _, JEST_WORKER_ID: _worker, ...inherited } = process.env;
  const child = spawn(process.execPath, [join(root, "tools/run/run.mjs"), ...command], {
    cwd: root,
    env: { ...inherited, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (part: Buffer) => {
      output = (output + part.toString()).slice(-20_000);
    });
  }
  const { promise, resolve } = Promise.withResolvers<number | null>();
  child.once("close", resolve);
  const code = await promise;
  if (code !== 0) throw new Error(output);
  return output;
}

describe.each(["1.30", "1.33"] as const)("Kubernetes %s", (version) => {
  it.each(Object.entries(subjects))(
    "passes the tests of %s",
    async (_subject, files) => {
      const directory = await mkdtemp(join(tmpdir(), "switchyard-versions-"));
      try {
        await programsOf(version, directory);
        const output = await runTests(files, { KUBEBUILDER_ASSETS: directory });
        expect(output).toMatch(/[1-9]\d* passed, 0 failed/);
      } finally {
        await rm(directory, { recursive: true });
      }
    },
    90 * 60_000, // the first build of an API server takes up to half an hour on two busy cores
  );
});
