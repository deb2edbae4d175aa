// SPDX-License-Identifier: Apache-2.0
/**
 * Words and phrases that texts for users must not contain, each with what to write instead (docs/contributing/style.md).
 */
import type { UserText } from "./texts.ts";

export interface UnplainText extends UserText {
  /** The words that are found in it. */
  readonly found: string;
  readonly advice: string;
}

const rules: readonly { readonly pattern: RegExp; readonly advice: string }[] = [
  { pattern: /\banew\b/, advice: 'write "again"' },
  { pattern: /\b(?:is|are) none\b/, advice: 'write "there is no …" or "no … is …"' },
  { pattern: /\bthere (?:is|are) not\b/, advice: 'write "… does not exist"' },
  { pattern: /\bas asked\b|\basked for\b/, advice: 'write "requested" or "as configured"' },
  { pattern: /\b(?:hears?|tells?|told) of\b|\bis told\b|\btells\b/, advice: 'write "reports", "receives" or "shows"' },
  { pattern: /\bwho(?:ever|m)\b/, advice: 'say which program or object: "the process that", "which"' },
  { pattern: /\b(?:he|she|him|his)\b/, advice: 'name the program or object, or write "it"' },
  { pattern: /\b(?:ours|theirs)\b/, advice: "name what is meant" },
  { pattern: /\b(?:some|no)body\b/, advice: 'name the actor: "another process", "no client", "an administrator"' },
  { pattern: /\b(?:looked after|taken up again|to be had|goes on|go on)\b/, advice: "name the operation" },
  { pattern: /\b(?:is|are|was|were) to (?!be\b)\w+/, advice: 'write "must", "can" or "will"' },
  { pattern: /\bdisturb(?:s|ed|ing)?\b/, advice: 'write "disrupt"' },
  { pattern: /\b(?:in|by|has|have|the \w+'s|its|their) words\b/, advice: 'write "message" or "error message"' },
  { pattern: /(?<!\bby )\bhands?\b(?! out)/, advice: "name what is meant" },
  { pattern: /\bverdicts?\b/, advice: 'write "result" or "decision"' },
  { pattern: /\bneeds (?:a person|somebody)\b/, advice: 'write "needs manual action"' },
  { pattern: /\bmade (?:out )?of\b/, advice: 'write "consists of", "created from" or "rendered from"' },
];

/** The texts that contain such words. Names in quotes and placeholders do not count. */
export function findUnplainWords(texts: readonly UserText[]): readonly UnplainText[] {
  return texts.flatMap((text) => {
    const words = text.text.replaceAll(/\$\{[^}]*\}|`[^`]*`/g, "…");
    const rule = rules.find(({ pattern }) => pattern.test(words));
    const [found = ""] = rule?.pattern.exec(words) ?? [];
    return rule === undefined ? [] : [{ ...text, found, advice: rule.advice }];
  });
}
