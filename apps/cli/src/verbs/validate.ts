// SPDX-License-Identifier: Apache-2.0
/** `switchyard validate`: what the API server and the webhook would answer, object by object. */
import { CliError } from "../cli-error.ts";
import { collectObjects, inNamespace, isPod } from "../cluster/cluster-objects.ts";
import { isOurs } from "../cluster/kinds.ts";
import { policyDefaults } from "../cluster/policy-defaults.ts";
import { createDiagnostics, type Diagnostics } from "../diagnostics.ts";
import { exitCodes } from "../exit-codes.ts";
import type { Flags } from "../flags.ts";
import { labelOf, type Manifest } from "../input/manifest.ts";
import { readGiven, readLive, readLivePods } from "../input/read-input.ts";
import { answersText } from "../output/answers-text.ts";
import { createColours } from "../output/colours.ts";
import { printData } from "../output/print-data.ts";
import type { JsonObject } from "../json.ts";
import type { Terminal } from "../terminal.ts";
import { answer, isAccepted, judgeManifest, storedForm } from "../validate/answer.ts";
import { isReviewed } from "../validate/review-of.ts";
import { viewOf } from "../validate/view-of.ts";
import type { RunVerb } from "../verb.ts";

export const validate: RunVerb = async ({ flags, terminal }) => {
  const { namespace, output = "text", operation, resourcePrefix } = flags;
  if (flags.filename.length === 0) throw new CliError("usage", "no input: give -f FILE with the objects to judge");
  const diagnostics = createDiagnostics(terminal.stderr);
  const place = (manifest: Manifest): Manifest => {
    return isOurs(manifest.kind, manifest.apiVersion) ? inNamespace(manifest, namespace) : manifest;
  };
  const given = (await readGiven(flags.filename, terminal, diagnostics)).map(place);
  const existing = (await readExisting(flags, terminal, diagnostics)).map(place);
  const livePods = isLive(flags) ? await readLivePods(flags, terminal) : undefined;
  const judged = given.filter(isJudged);
  const defaults = policyDefaults([...existing, ...given], namespace);
  const stored = new Map(
    existing.filter(isJudged).map((manifest) => [labelOf(manifest), storedForm(manifest, defaults)]),
  );
  const oldOf = (manifest: Manifest): JsonObject | undefined =>
    stored.get(labelOf(manifest)) ?? (operation === "DELETE" ? storedForm(manifest, defaults) : undefined);
  const others = [...othersOf(given, existing), ...(livePods ?? [])];
  const cluster = collectObjects(others, { namespace, diagnostics });
  const arePodsKnown = livePods !== undefined || others.some(isPod);
  const view = viewOf(cluster, { namespace, resourcePrefix, arePodsKnown });
  const nowMs = (): number => performance.now();
  const answers = judged.map((manifest) => answer(manifest, { operation, old: oldOf(manifest), view, nowMs }));

  if (output === "text") terminal.stdout.write(answersText(answers, createColours(terminal.stdout, terminal.env)));
  else printData(answers, output, terminal.stdout);
  return answers.every(({ allowed }) => allowed) ? diagnostics.exitCode() : exitCodes.no;
};

async function readExisting(flags: Flags, terminal: Terminal, diagnostics: Diagnostics): Promise<readonly Manifest[]> {
  const files = await readGiven(flags.existing, terminal, diagnostics);
  return isLive(flags) ? [...(await readLive(flags, terminal)), ...files] : files;
}

function isJudged({ kind, apiVersion }: Manifest): boolean {
  return isReviewed(kind) && isOurs(kind, apiVersion);
}

function isLive({ context, kubeconfig }: Flags): boolean {
  return context !== undefined || kubeconfig !== undefined;
}

/**
 * All that is in the cluster when an object comes last: rules look past the object itself. What its CRD refuses is not
 * there, and is told by its answer.
 */
function othersOf(given: readonly Manifest[], existing: readonly Manifest[]): readonly Manifest[] {
  const names = new Set(given.map(labelOf));
  const stored = existing.filter((manifest) => !names.has(labelOf(manifest)));
  const fine = given.filter((manifest) => {
    return !isJudged(manifest) || isAccepted(judgeManifest(manifest, undefined));
  });
  return [...stored, ...fine];
}
