// SPDX-License-Identifier: Apache-2.0
/** What signs and publishes takes nothing from other runs, waits for an approval, and can be told apart from all other workflows. */
import { describe, expect, it } from "@jest/globals";
import { findWorkspaceRoot } from "@switchyard/testing";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";

interface Step {
  readonly uses?: string;
  readonly if?: string;
  readonly with?: Readonly<Record<string, unknown>>;
}

interface Job {
  readonly environment?: string | { readonly name: string };
  readonly permissions?: Readonly<Record<string, string>>;
  readonly uses?: string;
  readonly steps?: readonly Step[];
}

const root = findWorkspaceRoot();
const folder = join(root, ".github/workflows");
const jobsOf = (file: string) => {
  const { jobs } = parse(readFileSync(join(folder, file), "utf8")) as { readonly jobs: Readonly<Record<string, Job>> };
  return Object.entries(jobs);
};
const published = ["images.yml", "release.yml"];

describe("the workflows", () => {
  it.each(published)("of %s wait for an approval before they publish", (file) => {
    for (const [name, { environment, permissions = {}, uses }] of jobsOf(file)) {
      if (uses !== undefined || !Object.values(permissions).includes("write")) continue;
      const text = typeof environment === "string" ? environment : environment?.name;
      expect([name, text]).toEqual([
        name,
        expect.stringMatching(/^(release|github-pages|\$\{\{ inputs.all && 'release' .*)$/),
      ]);
    }
  });

  it.each(published)("of %s take nothing from a cache for a release", (file) => {
    for (const [, { steps = [] }] of jobsOf(file)) {
      for (const step of steps) {
        if (step.uses?.startsWith("actions/cache@") === true) expect(step.if).toBe("${{ !inputs.all }}");
        if (step.uses?.startsWith("actions/setup-go@") === true) expect(step.with?.["cache"]).toBe(false);
      }
    }
  });

  it("have exact identities in the commands by which users verify signatures", () => {
    const page = readFileSync(join(root, "docs/contributing/releasing.md"), "utf8");
    expect(page).not.toContain("--certificate-identity-regexp");
    expect(page).toContain("/.github/workflows/images.yml@refs/tags/v1.2.0");
  });
});
