// SPDX-License-Identifier: Apache-2.0
/**
 * Validates an object with a real API server and the webhook, and with `switchyard validate`, which reads the cluster
 * from that server.
 */
import { isKubeError, isRecord } from "@switchyard/kube";
import { registerWebhooks, startWebhook, type TestCluster } from "@switchyard/test-cluster";
import { findFreePorts, runProgram } from "@switchyard/testing";
import { join } from "node:path";
import { create, workspace, type Manifest } from "../../src/crds/crd-objects.ts";

/** The result of a request to create one object, or of `switchyard validate` for it. */
export interface Answer {
  readonly allowed: boolean;
  /** HTTP status; 200 if allowed. */
  readonly code: number;
  /** The reason of the refusal; empty if allowed. */
  readonly message: string;
  /** The warnings; empty if refused. */
  readonly warnings: readonly string[];
  /** The spec with defaults; undefined if refused. */
  readonly spec: unknown;
}

/** Creates the object with dry run and returns the API server's answer. */
export async function askServer(testCluster: TestCluster, object: Manifest): Promise<Answer> {
  try {
    const warnings: string[] = [];
    const onWarning = (text: string) => warnings.push(text);
    const created = await create(testCluster.transport, object, { dryRun: true, onWarning });
    return { allowed: true, code: 200, message: "", warnings, spec: isRecord(created) ? created["spec"] : undefined };
  } catch (error) {
    if (!isKubeError(error)) throw error;
    const words = error.message.slice(`${error.tried}: ${error.code} (`.length, -1);
    // The API server adds the webhook's name to the message.
    const message = words.replace(/^admission webhook "[^"]*" denied the request: /, "");
    return { allowed: false, code: error.status ?? 0, message, warnings: [], spec: undefined };
  }
}

/** The answers of `switchyard validate` about each object against the test cluster. */
export async function askSwitchyard(
  testCluster: TestCluster,
  objects: readonly Manifest[],
): Promise<readonly Answer[]> {
  const program = join(workspace, "apps/cli/bin/switchyard.mjs");
  const flags = ["--kubeconfig", testCluster.cluster.kubeconfig, "-o", "json", "-f", "-"];
  // One object per call, because objects of the same input can conflict with each other.
  const answers: Answer[] = [];
  for (const object of objects) {
    const { stdout } = await runProgram(process.execPath, [program, "validate", ...flags], {
      input: JSON.stringify(object),
    });
    const parsed: unknown = JSON.parse(stdout);
    answers.push(readAnswer(Array.isArray(parsed) ? parsed[0] : undefined));
  }
  return answers;
}

function readAnswer(answer: unknown): Answer {
  if (!isRecord(answer)) throw new TypeError("an answer is no object");
  const { allowed, code, message, warnings, patched } = answer;
  if (typeof allowed !== "boolean" || typeof message !== "string" || !Array.isArray(warnings)) {
    throw new TypeError("an answer lacks allowed, message or warnings");
  }
  if (typeof code !== "number") throw new TypeError("an answer lacks its code");
  const spec = allowed && isRecord(patched) ? patched["spec"] : undefined;
  return { allowed, code, message, warnings: allowed ? warnings.map(String) : [], spec };
}

/** Starts the webhook on a free port of loopback and registers it with the API server. Resolves before it is ready. */
export async function startRegisteredWebhook(testCluster: TestCluster): Promise<void> {
  const [port = 0] = await findFreePorts(1);
  await registerWebhooks(testCluster, port);
  startWebhook(testCluster, "webhook", port);
}
