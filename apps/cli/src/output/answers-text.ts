// SPDX-License-Identifier: Apache-2.0
/**
 * answersText formats answers as text: one line per object, followed by its problems and warnings, and counts at the end.
 * Usage: `answersText(answers, colours)`.
 */
import { labelOf } from "../input/manifest.ts";
import type { Answer } from "../validate/answer.ts";
import type { Colours } from "./colours.ts";
import { wrap } from "./wrap.ts";

const width = 80;

export function answersText(answers: readonly Answer[], colours: Colours): string {
  const parts = answers.map(({ allowed, code, message, warnings, ...object }) => {
    const result = allowed ? colours.green("allowed") : colours.red(`rejected (${code})`);
    return [
      `${labelOf(object)}: ${result}`,
      ...(message === "" ? [] : indented(message, "")),
      ...warnings.flatMap((warning) => indented(warning, "Warning: ")),
    ];
  });
  const rejected = answers.filter(({ allowed }) => !allowed).length;
  const counts = `${answers.length - rejected} allowed, ${rejected} rejected.`;
  return [...parts.flat(), ...(parts.length === 0 ? [] : [""]), counts, ""].join("\n");
}

function indented(text: string, head: string): readonly string[] {
  return wrap(`${head}${text}`, width - 2).map((line) => `  ${line}`);
}
