// SPDX-License-Identifier: Apache-2.0
/**
 * CHANGELOG.md has a section for each version, newest first, and `## Unreleased` above them for what the next version
 * changes. Its lines are written with the changes, for users; the commits are for developers.
 */
import { ReleaseError } from "../release-error.ts";

const unreleased = "## Unreleased";

/** Turns the section "Unreleased" into that of a version, and puts an empty one above it. */
export function releaseSection(
  changelog: string,
  { version, date }: { readonly version: string; readonly date: string },
): string {
  if (sectionOf(changelog, "Unreleased") === "") {
    throw new ReleaseError(
      "failed",
      `CHANGELOG.md: the section "${unreleased}" is empty or missing; write what changes for users`,
    );
  }
  return changelog.replace(`${unreleased}\n`, `${unreleased}\n\n## ${version} - ${date}\n`);
}

/** Returns the text below the heading of a version, or of "Unreleased"; "" if the changelog has no such heading. */
export function sectionOf(changelog: string, version: string): string {
  const lines = changelog.split("\n");
  const start = lines.findIndex((line) => line === `## ${version}` || line.startsWith(`## ${version} - `));
  if (start === -1) return "";
  const length = lines.slice(start + 1).findIndex((line) => line.startsWith("## "));
  return lines
    .slice(start + 1, length === -1 ? undefined : start + 1 + length)
    .join("\n")
    .trim();
}

/** Groups subjects such as "policy: keep the range" by their area, in the order of the alphabet. */
export function groupCommits(subjects: readonly string[]): string {
  const groups = Map.groupBy(subjects.map(parseSubject), ({ area }) => area);
  return [...groups]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([area, commits]) => [`### ${area}`, "", ...commits.map(({ text }) => `- ${text}`)].join("\n"))
    .join("\n\n");
}

/** Commits without an area, and those of several areas ("docs, cli: …"), go to "other" and to the first area. */
function parseSubject(subject: string): { readonly area: string; readonly text: string } {
  const [, area, text] = /^([a-z][a-z0-9./-]*)(?:, [a-z0-9./, -]+)?: (.+)$/.exec(subject) ?? [];
  return { area: area ?? "other", text: escapeHtml(text ?? subject) };
}

/** Subjects are plain text: nothing in them may become markup on a page that shows the notes. */
function escapeHtml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}
