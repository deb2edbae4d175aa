// SPDX-License-Identifier: Apache-2.0
import type { Snapshot } from "../diagnosis/snapshot.ts";
import { buildReport, type ReportParts } from "./build-report.ts";
import { renderPage } from "./render-page.ts";

/** The page of a command, as one HTML file. Commands load this module with `-o html` only. */
export function makePage(snapshot: Snapshot, parts: ReportParts): string {
  return renderPage(buildReport(snapshot, parts));
}
