// SPDX-License-Identifier: Apache-2.0
/**
 * clip makes a text of the cluster fit for a page: no line breaks, no control characters, no characters that change the
 * direction of the text around it, and a limited length.
 * Usage: `clip("a\nb")` is "a b".
 */
import { printable } from "../output/printable.ts";

const maxLength = 600;

export function clip(text: string): string {
  const plain = printable(text).replace(/[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, "?");
  return plain.length <= maxLength ? plain : `${plain.slice(0, maxLength)} … (${plain.length} characters)`;
}
