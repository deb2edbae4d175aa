// SPDX-License-Identifier: Apache-2.0
/** `switchyard validate` prints the answers of the API server and the webhook to changes of objects. */
import { createAdmissionCache, isReviewedKind, type ClusterView } from "@switchyard/admission";
import { collectObjects, inNamespace, isPod } from "../cluster/cluster-objects.ts";
import { isSwitchyardKind } from "../cluster/kinds.ts";
import { policyDefaults } from "../cluster/policy-defaults.ts";
import type { Flags, Operation } from "../flags.ts";
import { labelOf, type JsonObject, type Manifest } from "../json.ts";
import { nullValues } from "../input/null-values.ts";
import { isLive, readLive, readLivePods, readPaths } from "../input/read-input.ts";
import { printData } from "../output/to-yaml.ts";
import {
  CliError,
  textStyleOf,
  createDiagnostics,
  exitCodes,
  type TextStyle,
  type Diagnostics,
  type Terminal,
} from "../terminal.ts";
import { printable, wrap } from "../text.ts";
import { answer, checkManifest, isAccepted, storedForm, type Answer } from "../validate/answer.ts";
import { misspeltKind } from "../validate/misspelt-kind.ts";
import { viewOf } from "../validate/view-of.ts";
import type { RunVerb } from "../verb.ts";

export const validate: RunVerb = async ({ flags, terminal }) => {
  const { namespace, output = "text", operation, resourcePrefix, clusterType } = flags;
  if (flags.filename.length === 0) throw new CliError("usage", "no input: use -f FILE for the objects to validate");
  const diagnostics = createDiagnostics(terminal.stderr);
  const place = (manifest: Manifest): Manifest => {
    return isSwitchyardKind(manifest.kind, manifest.apiVersion) ? inNamespace(manifest, namespace) : manifest;
  };
  const written = await readPaths(flags.filename, terminal, diagnostics);
  const given = written.map(place);
  const unplaced = new Set(
    written
      .filter(({ namespace: own }) => own === undefined || own === "")
      .map(place)
      .map(labelOf),
  );
  for (const manifest of given.filter(isReviewedManifest)) reportNulls(manifest, diagnostics);
  for (const manifest of given) {
    const problem = misspeltKind(manifest);
    if (problem !== undefined) diagnostics.report(`${labelOf(manifest)}: ${manifest.origin}: ${problem}`);
  }
  const existing = (await readExisting(flags, terminal, diagnostics)).map(place);
  const livePods = isLive(flags) ? await readLivePods(flags, terminal) : undefined;
  const defaults = policyDefaults([...existing, ...given], namespace);
  const stored = new Map(
    existing.filter(isReviewedManifest).map((manifest) => [labelOf(manifest), storedForm(manifest, defaults)]),
  );
  const changes: Changes = { operation, given, existing, stored };
  const others = [...othersOf(changes), ...(livePods ?? [])];
  const cluster = collectObjects(others, { namespace, diagnostics, oldOf: (label) => updatedObject(changes, label) });
  const arePodsKnown = livePods !== undefined || others.some(isPod);
  const view = viewOf(cluster, { namespace, resourcePrefix, arePodsKnown, clusterType });
  const admitOptions = { nowMs: () => performance.now(), cache: createAdmissionCache() };
  const gone = new Set<string>();
  const answers = given.filter(isReviewedManifest).map((manifest) => {
    const old = stored.get(labelOf(manifest)) ?? (operation === "DELETE" ? storedForm(manifest, defaults) : undefined);
    const answered = answer(manifest, { operation, old, view: withoutPolicies(view, gone), admitOptions });
    // Objects are deleted one after the other, so the last one takes what all of them had.
    if (operation === "DELETE" && answered.allowed && manifest.kind === policyKind) gone.add(manifest.name);
    return operation === "CREATE" && unplaced.has(labelOf(manifest)) ? placedBy(answered) : answered;
  });

  if (output === "text") terminal.stdout.write(answersText(answers, textStyleOf(terminal.stdout, terminal.env)));
  else printData(answers.map(asData), output, terminal.stdout);
  // A check of nothing is no success: the wrong file may have been given.
  if (answers.length === 0) diagnostics.report("nothing to check: the input has no object of a kind of Switchyard");
  return answers.every(({ allowed }) => allowed) ? diagnostics.exitCode() : exitCodes.no;
};

/** Without a namespace, kubectl creates the object where the kubeconfig says, and the operator does not use it there. */
function placedBy({ hints = [], ...answered }: Answer): Answer {
  const hint = `metadata.namespace is missing: write namespace: ${answered.namespace}, or apply the file with kubectl -n ${answered.namespace}`;
  return { ...answered, hints: [...hints, hint] };
}

const policyKind = "SriovNetworkNodePolicy";

/** The view after the deletion of the policies with these names. */
function withoutPolicies(view: ClusterView, names: ReadonlySet<string>): ClusterView {
  if (names.size === 0) return view;
  return { ...view, policies: view.policies.filter(({ metadata }) => !names.has(metadata.name)) };
}

/** The API server removes null values, so the answers do not show what the file was meant to say. */
function reportNulls(manifest: Manifest, diagnostics: Diagnostics): void {
  for (const { place, field, inSelector } of nullValues(manifest)) {
    const where = `${place}: ${labelOf(manifest)}: ${field}`;
    if (inSelector) {
      diagnostics.report(
        `${where}: has no value, so the API server removes it and the selector selects more: ` +
          'write a value ("" is the empty one), or delete the field',
      );
    } else diagnostics.note(`${where}: has no value, so the API server removes it and the default applies`);
  }
}

async function readExisting(flags: Flags, terminal: Terminal, diagnostics: Diagnostics): Promise<readonly Manifest[]> {
  const files = await readPaths(flags.existing, terminal, diagnostics);
  return isLive(flags) ? [...(await readLive(flags, terminal)), ...files] : files;
}

function isReviewedManifest({ kind, apiVersion }: Manifest): boolean {
  return isReviewedKind(kind) && isSwitchyardKind(kind, apiVersion);
}

interface Changes {
  readonly operation: Operation;
  readonly given: readonly Manifest[];
  readonly existing: readonly Manifest[];
  /** The existing objects as the cluster stores them, by label. */
  readonly stored: ReadonlyMap<string, JsonObject>;
}

/**
 * The objects in the cluster when each given object is applied last: rules ignore the object itself. A given object that its
 * CRD refuses is not in the cluster; its own answer says so. An object that is deleted is still there, as it is stored.
 */
function othersOf(changes: Changes): readonly Manifest[] {
  const { operation, given, existing } = changes;
  const accepted = given.filter((manifest) => {
    return (
      !isReviewedManifest(manifest) || isAccepted(checkManifest(manifest, updatedObject(changes, labelOf(manifest))))
    );
  });
  if (operation === "DELETE") return [...withoutLabelsOf(existing, accepted), ...existing];
  return [...withoutLabelsOf(given, existing), ...accepted];
}

/** `manifests` without objects that are also in `replacing`. */
function withoutLabelsOf(replacing: readonly Manifest[], manifests: readonly Manifest[]): readonly Manifest[] {
  const labels = new Set(replacing.map(labelOf));
  return manifests.filter((manifest) => !labels.has(labelOf(manifest)));
}

/** The stored object that a given one updates. Undefined for other operations. */
function updatedObject({ operation, stored }: Changes, label: string): JsonObject | undefined {
  return operation === "UPDATE" ? stored.get(label) : undefined;
}

function asData({ lines: _, ...answer }: Answer): Omit<Answer, "lines"> {
  return answer;
}

/**
 * answersText formats answers as text: one line per object, followed by its problems, hints and warnings, and counts at the end.
 */
function answersText(answers: readonly Answer[], style: TextStyle): string {
  const indented = (mark: string) => (text: string) =>
    wrap(printable(`${mark}${text}`), style.width - 4).map((line, index) =>
      index === 0 ? `  ${line}` : `    ${line}`,
    );
  const parts = answers.map(({ allowed, code, lines, hints = [], warnings, ...object }) => {
    const result = allowed ? style.green("allowed") : style.red(`rejected (${code})`);
    return [
      `${printable(labelOf(object))}: ${result}`,
      ...lines.flatMap(indented("* ")),
      ...hints.flatMap(indented("Hint: ")),
      ...warnings.flatMap(indented("Warning: ")),
    ];
  });
  const rejected = answers.filter(({ allowed }) => !allowed).length;
  const counts = `${answers.length - rejected} allowed, ${rejected} rejected.`;
  return [...parts.flat(), ...(parts.length === 0 ? [] : [""]), counts, ""].join("\n");
}
