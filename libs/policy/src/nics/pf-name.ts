// SPDX-License-Identifier: Apache-2.0
/**
 * Entries of nicSelector.pfNames: the name of a PF, and perhaps some of its VFs (sriov-operator.md B.5, B.6).
 * Usage: `parsePfName("ens1f0#2-5")` has `name: "ens1f0"` and the range 2-5.
 */
import { err, ok, type Result } from "@switchyard/api";
import { parseVfRange, type VfRange } from "../vfs/vf-range.ts";

/** Which VFs of which PF. */
export interface PfName {
  /** Name or alternative name of the PF; never empty. */
  readonly name: string;
  /** Absent where the entry has no `#`: all VFs. */
  readonly range?: VfRange;
}

/** Why the entry `text` cannot be used. `name` is what stands before the first `#`. */
export interface PfNameProblem {
  readonly code: "no-name" | "malformed" | "reversed";
  readonly name: string;
  readonly text: string;
}

/** Reads "ens1f0" and "ens1f0#2-5". A `#` with no proper range behind it is a problem, never the whole port (M-41). */
export function parsePfName(text: string): Result<PfName, PfNameProblem> {
  const name = pfNameOf(text);
  if (name === "") return err({ code: "no-name", name, text });
  if (name === text) return ok({ name });
  const range = parseVfRange(text.slice(name.length + 1));
  return range.ok ? ok({ name, range: range.value }) : err({ code: range.error.code, name, text });
}

/** The PF's name alone, also of an entry whose range is wrong: all before the first `#`. */
export function pfNameOf(text: string): string {
  const hash = text.indexOf("#");
  return hash < 0 ? text : text.slice(0, hash);
}
