// SPDX-License-Identifier: Apache-2.0
/** The verbs about versions: `version`, `check-tag` and `changelog`. */
import { outputOf } from "@switchyard/testing";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { ReleaseError } from "../release-error.ts";
import type { Verb } from "../command-line.ts";
import { groupCommits, sectionOf } from "./changelog.ts";
import { readVersion } from "./product-version.ts";
import { setVersion } from "./set-version.ts";

export const version: Verb = {
  summary: "set the version of the product, and start its section in CHANGELOG.md",
  operands: "X.Y.Z",
  flags: { date: { value: "YYYY-MM-DD", summary: "day of the release (default today)" } },
  run: async ({ root, operands, flags, print }) => {
    const [number, ...more] = operands;
    if (number === undefined || more.length > 0) throw new ReleaseError("usage", "version requires one version: 1.2.3");
    const { date = new Date().toISOString().slice(0, 10) } = flags;
    if (!/^\d{4}-\d\d-\d\d$/.test(date)) throw new ReleaseError("usage", `--date: "${date}" must be a day: 2026-11-22`);
    for (const file of await setVersion(root, { version: number, date })) print(`wrote ${file}`);
    print(`next: git commit -am "release: ${number}" && git tag -s v${number} -m v${number}`);
  },
};

export const checkTag: Verb = {
  summary: "fail unless the tag is that of the version in package.json, and its commit is on main",
  operands: "TAG",
  flags: {},
  run: async ({ root, operands, print }) => {
    const expected = `v${await readVersion(root)}`;
    if (operands.length !== 1 || operands[0] !== expected) {
      throw new ReleaseError(
        "failed",
        `tag "${operands.join(" ")}" must be "${expected}", the version in package.json`,
      );
    }
    if (sectionOf(await readFile(join(root, "CHANGELOG.md"), "utf8"), expected.slice(1)) === "") {
      throw new ReleaseError("failed", `CHANGELOG.md has no section "## ${expected.slice(1)}"`);
    }
    await checkOnMain(root);
    print(expected);
  },
};

/** A tag can name any commit, also of a branch that nobody has reviewed. */
async function checkOnMain(root: string): Promise<void> {
  const branches = await outputOf("git", ["branch", "--remotes", "--contains", "HEAD", "--format=%(refname)"], {
    cwd: root,
  });
  if (branches.split("\n").includes("refs/remotes/origin/main")) return;
  throw new ReleaseError("failed", "the commit of the tag is not on origin/main: merge it first, then set the tag");
}

export const changelog: Verb = {
  summary: "print the release notes: the section of CHANGELOG.md, and the commits since a tag",
  operands: "",
  flags: { since: { value: "TAG", summary: "the release before (default: the newest tag v* before this commit)" } },
  run: async ({ root, flags, print }) => {
    const current = await readVersion(root);
    const text = await readFile(join(root, "CHANGELOG.md"), "utf8");
    const section = sectionOf(text, current) || sectionOf(text, "Unreleased");
    if (section === "")
      throw new ReleaseError("failed", `CHANGELOG.md has no section "## ${current}" or "## Unreleased"`);
    const since = flags["since"] ?? (await newestTagBefore(root, `v${current}`));
    print(section);
    if (since === undefined) return; // The first release: the whole history is no news.
    const range = ["--no-merges", "--reverse", "--format=%s", `${since}..HEAD`];
    const log = await outputOf("git", ["log", ...range, "--"], { cwd: root });
    const commits = groupCommits(log.split("\n").filter(Boolean));
    if (commits !== "") print(`\n## Commits since ${since}\n\n${commits}`);
  },
};

/** Undefined if no release was made before. */
async function newestTagBefore(root: string, tag: string): Promise<string | undefined> {
  const tags = await outputOf("git", ["tag", "--list", "v*", "--merged", "HEAD", "--sort=-version:refname"], {
    cwd: root,
  });
  return tags.split("\n").find((name) => name !== "" && name !== tag);
}
