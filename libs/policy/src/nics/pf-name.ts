// SPDX-License-Identifier: Apache-2.0
/**
 * PfName is an entry of nicSelector.pfNames: the name of a PF, optionally with a range of its VFs
 * (sriov-operator.md B.5, B.6).
 * Usage: `parsePfName("ens1f0#2-5")` has the name "ens1f0" and the range 2-5.
 */
import { err, ok, type Result } from "@switchyard/api";
import { parseVfRange, type VfRange } from "../vfs/vf-range.ts";

/** A PF and optionally a range of its VFs. */
export interface PfName {
  /** Name or alternative name of the PF; never empty. */
  readonly name: string;
  /** Absent if the entry has no `#`: then all VFs are selected. */
  readonly range?: VfRange;
}

/** Why the entry `text` is invalid. `name` is the part before the first `#`. */
export interface PfNameProblem {
  readonly code: "no-name" | "malformed" | "reversed";
  readonly name: string;
  readonly text: string;
}

/**
 * Parses "ens1f0" or "ens1f0#2-5". A `#` without a valid range is a problem; upstream treats some of these entries as
 * the whole port (sriov-operator.md M-41).
 */
export function parsePfName(text: string): Result<PfName, PfNameProblem> {
  const name = pfNameOf(text);
  if (name === "") return err({ code: "no-name", name, text });
  if (name === text) return ok({ name });
  const range = parseVfRange(text.slice(name.length + 1));
  return range.ok ? ok({ name, range: range.value }) : err({ code: range.error.code, name, text });
}

/** Returns the name of the PF, the part before the first `#`, even if the range is invalid. */
export function pfNameOf(text: string): string {
  const hash = text.indexOf("#");
  return hash < 0 ? text : text.slice(0, hash);
}
