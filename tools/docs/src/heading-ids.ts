// SPDX-License-Identifier: Apache-2.0
/**
 * The ids that GitHub gives to headings, so that one link works on GitHub and on the site.
 * Usage: `const id = headingId("Before a change");` is "before-a-change".
 */

/** `text` is the heading without Markdown. Lower case, without punctuation, blanks as "-". */
export function headingId(text: string): string {
  return text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
    .replaceAll(/\s/g, "-");
}
