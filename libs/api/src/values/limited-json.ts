// SPDX-License-Identifier: Apache-2.0
/**
 * parseLimitedJson parses JSON that others write: users, files of a node, other programs. JSON.parse accepts any number of levels, and
 * functions that call themselves for each level, such as JSON.stringify, then run out of stack.
 * Usage: `const value = parseLimitedJson(text)`, instead of `JSON.parse(text)`.
 */

/** Objects of Kubernetes have less than forty levels, and configurations less than ten. */
const maxLevels = 100;

/** Throws SyntaxError, also for more than 100 levels. Its message can quote the text. */
export function parseLimitedJson(text: string): unknown {
  if (isDeeper(text)) throw new SyntaxError(`more than ${maxLevels} levels of nesting`);
  const value: unknown = JSON.parse(text);
  return value;
}

/** Counts brackets outside of strings. The result is meaningless if the text is not JSON. */
function isDeeper(text: string): boolean {
  let depth = 0;
  let inString = false;
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (inString) {
      if (character === "\\") at++;
      else if (character === '"') inString = false;
    } else if (character === '"') inString = true;
    else if (character === "[" || character === "{") {
      if (++depth > maxLevels) return true;
    } else if (character === "]" || character === "}") depth--;
  }
  return false;
}
