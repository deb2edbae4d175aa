// SPDX-License-Identifier: Apache-2.0
/** `switchyard explain KIND[.FIELD]` prints the documentation in the CRDs, and `explain NAME` that of a reason, finding or metric. */
import { nearestName } from "@switchyard/policy";
import { adviceOnReason, reasonTableNames } from "../diagnosis/condition-advice.ts";
import { findingCatalogue } from "../diagnosis/finding-catalogue.ts";
import { reference } from "../diagnosis/reference.gen.ts";
import { explainField } from "../output/explain-field.ts";
import { CliError, exitCodes, textStyleOf } from "../terminal.ts";
import { wrap } from "../text.ts";
import type { RunVerb } from "../verb.ts";

interface Section {
  readonly name: string;
  readonly head: string;
  readonly body: readonly string[];
}

export const explain: RunVerb = async ({ operands, terminal }) => {
  const [path, extra] = operands;
  if (path === undefined || extra !== undefined) {
    throw new CliError(
      "usage",
      "explain requires one argument, KIND[.FIELD] or NAME, such as SriovNetworkNodePolicy.spec.numVfs or StepFailed",
    );
  }
  const { width } = textStyleOf(terminal.stdout, terminal.env);
  const meaning = explainName(path, width);
  if (meaning !== undefined) {
    terminal.stdout.write(meaning);
    return Promise.resolve(exitCodes.done);
  }
  const explained = explainField(path, width);
  if (!explained.ok) {
    throw new CliError("usage", nameHint(path) ?? explained.error);
  }
  terminal.stdout.write(explained.value);
  return Promise.resolve(exitCodes.done);
};

/** What may be meant by a text that is no name; undefined if nothing is like it. */
function nameHint(text: string): string | undefined {
  if (text.includes(".")) return undefined;
  const names = explainedNames();
  const like = nearestName(text, names);
  if (like !== undefined) return `unknown name "${text}"; did you mean ${like}?`;
  const containing = names.filter((name) => text.length > 2 && name.toLowerCase().includes(text.toLowerCase()));
  const [first, ...more] = containing.slice(0, 12);
  return first === undefined ? undefined : `unknown name "${text}"; names with it are ${[first, ...more].join(", ")}`;
}

/**
 * explainName describes the type or reason of a condition, the reason of an event, the code of a finding, or a metric. The texts
 * are those of docs/reference.
 * The text ends with a newline; undefined if no such name is known. A name can have several meanings.
 */
export function explainName(name: string, width = 80): string | undefined {
  const sections = [...findings(), ...reasons(), ...types(), ...events(), ...metrics()]
    .filter((section) => section.name.toLowerCase() === name.toLowerCase())
    .map(({ head, body }) => [head, ...body.flatMap((text) => indented(text, width)), ""].join("\n"));
  return sections.length === 0 ? undefined : sections.join("\n");
}

/** All names with a meaning, sorted, each once. */
export function explainedNames(): readonly string[] {
  const all = [...findings(), ...reasons(), ...types(), ...events(), ...metrics()];
  return [...new Set(all.map(({ name }) => name))].sort();
}

function findings(): readonly Section[] {
  return Object.entries(findingCatalogue).map(([name, { severity, cause, next }]) => ({
    name,
    head: `FINDING:  ${name} (${severity})`,
    body: [cause, `Next: ${withoutPlaceholders(next)}`],
  }));
}

function reasons(): readonly Section[] {
  return reference.reasons.map(({ table, about, name, meaning, remedy }) => {
    const known = reasonTableNames.find((each) => each === table);
    const advice = known === undefined ? undefined : adviceOnReason(known, name);
    const next = advice === undefined ? [] : [`Next: ${withoutPlaceholders(advice.next)}`];
    return { name, head: `REASON:   ${name}`, body: [meaning, `What to do: ${remedy}`, about, ...next] };
  });
}

function types(): readonly Section[] {
  return reference.conditionTypes.map(({ name, meaning }) => ({ name, head: `CONDITION: ${name}`, body: [meaning] }));
}

function events(): readonly Section[] {
  return reference.events.map(({ name, type, when, remedy }) => ({
    name,
    head: `EVENT:    ${name} (${type})`,
    body: [when, `What to do: ${remedy}`],
  }));
}

function metrics(): readonly Section[] {
  return reference.metrics.map(({ name, type, labels, meaning }) => {
    const body = [meaning, ...(labels.length === 0 ? [] : [`Labels: ${labels.join(", ")}`])];
    return { name, head: `METRIC:   ${name} (${type})`, body };
  });
}

/** "kubectl -n {namespace} ..." as manual pages write it: "kubectl -n NAMESPACE ...". */
function withoutPlaceholders(command: string): string {
  return command.replaceAll(/\{(\w+)\}/g, (_, name: string) => name.toUpperCase());
}

function indented(text: string, width: number): readonly string[] {
  return wrap(text, width - 2).map((line) => `  ${line}`);
}
