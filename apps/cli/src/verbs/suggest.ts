// SPDX-License-Identifier: Apache-2.0
/** `switchyard suggest` prints policies, networks and pools for the NICs that the nodes have, with comments that say why. */
import { collectObjects } from "../cluster/cluster-objects.ts";
import { withCurrentContext } from "../input/current-context.ts";
import { readInput } from "../input/read-input.ts";
import { toYaml } from "../output/to-yaml.ts";
import type { SurveyedPf } from "../suggest/free-pfs.ts";
import { suggestObjects, type SuggestedObject } from "../suggest/suggest-objects.ts";
import { createDiagnostics, exitCodes } from "../terminal.ts";
import { printable, wrap } from "../text.ts";
import type { RunVerb } from "../verb.ts";

export const suggest: RunVerb = async ({ flags: given, terminal }) => {
  const diagnostics = createDiagnostics(terminal.stderr);
  const flags = await withCurrentContext(given, terminal, diagnostics);
  const { namespace } = flags;
  const cluster = collectObjects(await readInput(flags, terminal, diagnostics), {
    namespace,
    diagnostics,
    isIgnoredNoted: false,
  });
  const { objects, doubtful, leftOut, silentNodes } = suggestObjects(cluster, namespace);
  const head = [
    ...(objects.length + doubtful.length === 0
      ? ["No PF was found on which VFs can be created without disrupting anything."]
      : []),
    ...leftOutLines(leftOut),
    ...(silentNodes.length === 0
      ? []
      : [`Not examined, because nothing is reported about them: ${namesText(silentNodes)}.`]),
  ];
  const documents = objects.map(({ comment, object }) => commented(comment) + toYaml(object));
  const parts = [
    ...(head.length === 0 ? [] : [commented(head)]),
    ...documents,
    ...(doubtful.length === 0 ? [] : [doubtfulText(doubtful)]),
  ];
  terminal.stdout.write(parts.join("---\n"));
  return objects.length === 0 ? exitCodes.no : diagnostics.exitCode();
};

const width = 100;

/** Nodes report names and drivers themselves, and control characters would reach the terminal, or end the comment. */
function commented(sentences: readonly string[]): string {
  return sentences
    .flatMap((sentence) => wrap(printable(sentence), width))
    .map((line) => `# ${line}\n`)
    .join("");
}

/** A comment as a whole, so that nobody applies by chance what may take a port from the host. */
function doubtfulText(objects: readonly SuggestedObject[]): string {
  const documents = objects.map(({ comment, object }) => `${commented(comment)}${toYaml(object)}`);
  const lines = documents.join("---\n").split("\n").slice(0, -1);
  const code = lines.map((line) => (line.startsWith("#") ? `${line}\n` : `#: ${line}\n`));
  return commented(doubtfulHint) + code.join("");
}

const doubtfulHint = [
  "It is not known whether the host uses the following ports, so these objects are comments. Look on the nodes:",
  "ip -brief address; ip route. If the host does not need a port, remove the marks: sed 's/^#: //' FILE.",
  "Daemons report what the host uses with the feature gate manageSoftwareBridges of the SriovOperatorConfig.",
];

/** One line for each PF name and reason. */
function leftOutLines(leftOut: readonly SurveyedPf[]): readonly string[] {
  const groups = Map.groupBy(leftOut, ({ name, pf, leftOut: why = "" }) => `${name || pf.pciAddress}: ${why}`);
  return [...groups].map(([text, pfs]) => {
    return `Left out: ${text} (${namesText([...new Set(pfs.map(({ node }) => node.metadata.name))])}).`;
  });
}

function namesText(names: readonly string[]): string {
  const shown = names.slice(0, 4).join(", ");
  return names.length > 4 ? `${shown} and ${names.length - 4} more` : shown;
}
