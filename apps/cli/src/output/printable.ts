// SPDX-License-Identifier: Apache-2.0
/**
 * printable replaces line breaks and control characters in texts of users, which could control the terminal.
 * Usage: `printable("a\nb")` is "a b".
 */

export function printable(text: string): string {
  return text.replace(/\s*\n\s*/g, " ").replace(/[\u0000-\u001f\u007f-\u009f]/g, "?");
}
