// SPDX-License-Identifier: Apache-2.0
/** verificationViews makes what the page says about the checks of `switchyard verify`: a table for each network, and failures in full. */
import { pageText } from "../text.ts";
import type { Check } from "../verify/layers.ts";
import type { Verification } from "../verify/verify-network.ts";
import { placeOf, rowOf, statusWords, tableHeads, titleOf } from "../verify/verify-text.ts";
import type { FailureView, VerificationView } from "./report.ts";

/** Failed checks that are shown in full. */
const maxFailures = 100;
/** Rows of a table: a check is less than 300 bytes. */
const maxRows = 1000;

export function verificationViews(verifications: readonly Verification[]): readonly VerificationView[] {
  return verifications.map((verification) => {
    const { checks } = verification;
    // Failures first, because the table may be cut.
    const sorted = [...checks].sort((a, b) => Number(b.status === "failed") - Number(a.status === "failed"));
    const more = checks.length > maxRows ? `, the first ${maxRows} of ${checks.length}` : "";
    const rows = sorted.slice(0, maxRows).map((check) => rowOf(check).map(pageText));
    return {
      title: pageText(titleOf(verification)),
      table: { title: `Checks between pods${more}`, heads: tableHeads, rows },
      failures: sorted
        .filter(({ status }) => status === "failed")
        .slice(0, maxFailures)
        .map(failureOf),
    };
  });
}

function failureOf(check: Check): FailureView {
  const shown = check.results.filter(({ status }) => status !== "notChecked");
  return {
    place: pageText(placeOf(check)),
    layer: check.failedLayer ?? "",
    lines: shown.map(({ status, layer, text, next }) => ({
      sign: statusWords[status],
      layer,
      text: pageText(text),
      ...(next !== undefined && { next: pageText(next) }),
    })),
  };
}
