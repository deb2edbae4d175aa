// SPDX-License-Identifier: Apache-2.0
/**
 * `switchyard validate` and a real API server with the webhook get a corpus of valid and invalid objects. Both must
 * refuse the same objects with the same fields and messages, and set the same defaults on the others. kubectl reads the
 * files for the server.
 */
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { startTestCluster, type TestCluster, silentNarrator } from "@switchyard/test-cluster";
import { isRecord } from "@switchyard/kube";
import { ensureBinaries, eventually, runProgram } from "@switchyard/testing";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startRegisteredWebhook } from "./answers.ts";
import { objectOf, refused, taken } from "../../src/crds/crd-cases.ts";
import { create, namespace, workspace } from "../../src/crds/crd-objects.ts";

const coldStartMs = 10 * 60_000;
const testMs = 2 * 60_000;
const corpus = join(workspace, "apps/cli/testdata/corpus");

describe("switchyard validate", () => {
  let testCluster: TestCluster;
  let kubectl: string;
  let folder: string;

  beforeAll(async () => {
    testCluster = await startTestCluster(silentNarrator);
    kubectl = join(await ensureBinaries(), "kubectl");
    await startRegisteredWebhook(testCluster);
    await eventually(
      "the webhook answers",
      () => create(testCluster.transport, objectOf("SriovNetwork", {}), { dryRun: true }),
      {
        withinMs: 60_000,
      },
    );
    folder = await mkdtemp(join(tmpdir(), "switchyard-corpus-"));
    // JSON documents are valid YAML. For the items of a List, kubectl would report less.
    const documents = crdCases().map((object) => JSON.stringify(object));
    await writeFile(join(folder, "crd-cases.yaml"), documents.join("\n---\n"));
  }, coldStartMs);
  afterAll(async () => {
    await testCluster[Symbol.asyncDispose]();
    await rm(folder, { recursive: true, force: true });
  });

  it.each(["the corpus", "the cases of the CRDs"])(
    "gives the same answers for %s as the API server",
    async (which) => {
      const files = which === "the corpus" ? corpus : folder;
      const server = await askServer(kubectl, testCluster.cluster.kubeconfig, files);
      const ours = await askSwitchyard(files);
      expect(ours.length).toBeGreaterThanOrEqual(130);
      // The API server does not say how JSON becomes a text.
      const advice = /; spec\.ipam is a text: .*/;
      const refusals = ours.filter(({ allowed }) => !allowed).map(({ message }) => message.replace(advice, ""));
      expect(refusals.filter((message) => !isUnreadable(message)).map(inAnyOrder)).toEqual(
        server.refusals.map(inAnyOrder),
      );
      expect(refusals.filter(isUnreadable).length).toBe(server.unreadable);
      const accepted = ours.filter(({ allowed }) => allowed);
      expect(accepted.map(({ patched }) => specOf(patched))).toEqual(server.accepted.map(specOf));
    },
    testMs,
  );
});

/** The cases for kinds that the webhook validates. `switchyard validate` ignores the others. */
function crdCases() {
  const cases = [
    ...refused.map(([kind, spec]) => objectOf(kind, spec)),
    ...taken.map(([kind, spec, name]) => objectOf(kind, spec, name)),
  ];
  return cases.filter(({ kind }) => kind !== "SriovNetworkNodeState");
}

interface ServerAnswer {
  /** Messages, in the order of the input. */
  readonly refusals: readonly string[];
  /** How many objects kubectl could not decode. */
  readonly unreadable: number;
  /** Objects as they would be stored, in the order of the input. */
  readonly accepted: readonly unknown[];
}

async function askServer(kubectl: string, kubeconfig: string, files: string): Promise<ServerAnswer> {
  const flags = ["--kubeconfig", kubeconfig, "--namespace", namespace, "--dry-run=server", "--output=json"];
  const { stdout, stderr } = await runProgram(kubectl, ["create", ...flags, "--filename", files]);
  const lines = stderr.split("\n");
  return {
    refusals: lines.flatMap((line) => {
      const [, message] = /^Error from server \(\w+\): error when creating "[^"]*": (.*)$/.exec(line) ?? [];
      // The API server adds the webhook's name to the message.
      return message === undefined ? [] : [message.replace(/^admission webhook "[^"]*" denied the request: /, "")];
    }),
    unreadable: stderr.split("unable to decode").length - 1,
    accepted: stdout
      .split(/(?<=^\})\n/m)
      .filter((text) => text.trim() !== "")
      .map((text): unknown => JSON.parse(text)),
  };
}

interface Answer {
  readonly allowed: boolean;
  readonly message: string;
  readonly patched: unknown;
}

async function askSwitchyard(files: string): Promise<readonly Answer[]> {
  const program = join(workspace, "apps/cli/bin/switchyard.mjs");
  const { stdout } = await runProgram(process.execPath, [program, "validate", "--filename", files, "--output", "json"]);
  const answers: unknown = JSON.parse(stdout);
  if (!Array.isArray(answers)) throw new TypeError("the output is not an array");
  return answers.map((answer: unknown) => {
    if (!isRecord(answer)) throw new TypeError("an answer is not an object");
    const { allowed, message, patched } = answer;
    if (typeof allowed !== "boolean" || typeof message !== "string")
      throw new TypeError("an answer lacks allowed or message");
    return { allowed, message, patched };
  });
}

/** Whether kubectl refuses the object itself: it decodes metadata before it sends the object. */
function isUnreadable(message: string): boolean {
  return message.includes("json: cannot unmarshal");
}

/** Splits and sorts the causes of a message, because the API server reports them in random order. */
function inAnyOrder(message: string): readonly string[] {
  const [, head = message, list = ""] = /^(.*? is invalid: )\[?(.*?)\]?$/s.exec(message) ?? [];
  return [head, ...list.split(/, (?=(?:spec|metadata|<nil>)[.:[])/).sort()];
}

function specOf(object: unknown): unknown {
  return isRecord(object) ? object["spec"] : undefined;
}
