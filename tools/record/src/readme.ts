// SPDX-License-Identifier: Apache-2.0
/** Picks the lines of the demo's output that the README shows. */

/** In the order of the demo: a policy, its nodes, a failure and a repair. */
const wanted: readonly RegExp[] = [
  /sriovnetworknodepolicy\S*\/fast created/,
  /worker-1 +Succeeded .*vfio-pci/,
  /policy fast Ready/,
  /sriovnetworknodepolicy\S*\/greedy created/,
  /worker-1 +Failed/,
  /policy greedy Degraded/,
  /worker-1 +echo .*\/unbind/,
  /worker-1 +Succeeded/,
  /worker-1 +VF 0 /,
];

/**
 * Of each wanted line the first one behind the line before it, with the heading of its part of the demo, which follows an
 * empty line. Lines that are missing are left out.
 */
export function excerptOf(lines: readonly string[]): readonly string[] {
  const picked = new Set<number>();
  let from = 0;
  for (const pattern of wanted) {
    const at = lines.findIndex((line, index) => index >= from && pattern.test(line));
    if (at < 0) continue;
    picked.add(lines.lastIndexOf("", at) + 1).add(at);
    from = at + 1;
  }
  return lines.filter((_, index) => picked.has(index));
}

/**
 * Replaces the block of code in a Markdown document that follows a comment such as `<!-- npm run demo -->`.
 * Throws if the document has no such block.
 */
export function replaceBlock(document: string, name: string, content: string): string {
  const mark = `<!-- ${name} -->\n\n\`\`\`text\n`;
  const start = document.indexOf(mark);
  const end = document.indexOf("\n```\n", start + mark.length - 1);
  if (start < 0 || end < 0) throw new Error(`no block of code behind <!-- ${name} -->`);
  return `${document.slice(0, start)}${mark}${content}${document.slice(end)}`;
}
