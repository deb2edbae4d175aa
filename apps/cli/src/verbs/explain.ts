// SPDX-License-Identifier: Apache-2.0
/** `switchyard explain KIND[.FIELD]` prints the documentation in the CRDs, and `explain NAME` that of a reason, finding or metric. */
import { nearestName } from "@switchyard/policy";
import { adviceOnReason, reasonTableNames } from "../diagnosis/condition-advice.ts";
import { findingCatalogue } from "../diagnosis/finding-catalogue.ts";
import { reference } from "../diagnosis/reference.gen.ts";
import { explainField } from "../output/explain-field.ts";
import { CliError, exitCodes } from "../terminal.ts";
import { wrap } from "../text.ts";
import type { RunVerb } from "../verb.ts";

const width = 80;

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
  const meaning = explainName(path);
  if (meaning !== undefined) {
    terminal.stdout.write(meaning);
    return Promise.resolve(exitCodes.done);
  }
  const explained = explainField(path);
  if (!explained.ok) {
    const like = nearestName(path, explainedNames());
    throw new CliError("usage", `${explained.error}${like === undefined ? "" : `; did you mean ${like}?`}`);
  }
  terminal.stdout.write(explained.value);
  return Promise.resolve(exitCodes.done);
};

/**
 * explainName describes the type or reason of a condition, the reason of an event, the code of a finding, or a metric. The texts
 * are those of docs/reference.
 * The text ends with a newline; undefined if no such name is known. A name can have several meanings.
 */
export function explainName(name: string): string | undefined {
  const sections = [...findings(), ...reasons(), ...types(), ...events(), ...metrics()]
    .filter((section) => section.name === name)
    .map(({ head, body }) => [head, ...body.flatMap(indented), ""].join("\n"));
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
    body: [cause, `Next: ${next}`],
  }));
}

function reasons(): readonly Section[] {
  return reference.reasons.map(({ table, about, name, meaning, remedy }) => {
    const known = reasonTableNames.find((each) => each === table);
    const advice = known === undefined ? undefined : adviceOnReason(known, name);
    const next = advice === undefined ? [] : [`Next: ${advice.next}`];
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

function indented(text: string): readonly string[] {
  return wrap(text, width - 2).map((line) => `  ${line}`);
}
