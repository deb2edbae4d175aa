// SPDX-License-Identifier: Apache-2.0
/**
 * Replaces the block of code in a Markdown document that follows a comment such as `<!-- npm run demo -->`.
 * Usage: `const text = replaceBlock(old, "npm run demo", output);`
 */

/** Throws if the document has no such block. */
export function replaceBlock(document: string, name: string, content: string): string {
  const mark = `<!-- ${name} -->\n\n\`\`\`text\n`;
  const start = document.indexOf(mark);
  const end = document.indexOf("\n```\n", start + mark.length - 1);
  if (start < 0 || end < 0) throw new Error(`no block of code behind <!-- ${name} -->`);
  return `${document.slice(0, start)}${mark}${content}${document.slice(end)}`;
}
