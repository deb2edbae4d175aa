// SPDX-License-Identifier: Apache-2.0
/**
 * wrap breaks text into lines at blanks.
 * Usage: `wrap(sentence, 80).join("\n")`.
 */

/** Lines have at most `width` characters. A longer word is on a line by itself. */
export function wrap(text: string, width: number): readonly string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(/\s+/).filter((part) => part !== "")) {
    if (line !== "" && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else {
      line = line === "" ? word : `${line} ${word}`;
    }
  }
  return line === "" ? lines : [...lines, line];
}
