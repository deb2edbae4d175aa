// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { groupCommits, releaseSection, sectionOf } from "./changelog.ts";

const changelog = `# Changelog

## Unreleased

- A new thing.

## 0.1.0 - 2026-01-02

- The first.
`;

describe("releaseSection", () => {
  it("gives what is unreleased to the version, and leaves an empty section above it", () => {
    const released = releaseSection(changelog, { version: "0.2.0", date: "2026-11-22" });
    expect(sectionOf(released, "0.2.0")).toBe("- A new thing.");
    expect(sectionOf(released, "Unreleased")).toBe("");
    expect(sectionOf(released, "0.1.0")).toBe("- The first.");
  });

  it("refuses to release nothing", () => {
    const empty = changelog.replace("- A new thing.\n", "");
    expect(() => releaseSection(empty, { version: "0.2.0", date: "2026-11-22" })).toThrow("is empty or missing");
  });
});

describe("sectionOf", () => {
  it("does not take a version for one that it is the beginning of", () => {
    expect(sectionOf("## 1.2.30 - 2026-01-01\n\n- x\n", "1.2.3")).toBe("");
  });
});

describe("groupCommits", () => {
  it("groups by area, keeps the order of each group, and escapes markup", () => {
    expect(groupCommits(["plan: one", "no area", "docs, cli: two", "plan: <b>three</b>"])).toBe(
      [
        "### docs",
        "",
        "- two",
        "",
        "### other",
        "",
        "- no area",
        "",
        "### plan",
        "",
        "- one",
        "- &lt;b>three&lt;/b>",
      ].join("\n"),
    );
  });
});
