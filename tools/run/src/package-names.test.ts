// SPDX-License-Identifier: Apache-2.0
/**
 * The package `switchyard` of the npm registry belongs to another project. No page, workflow or comment tells anybody
 * to install it, to run it with npx outside of a checkout, or to publish under its name.
 */
import { describe, expect, it } from "@jest/globals";
import { readWorkspaceFile, workspaceFiles } from "./workspace-files.ts";

const thisFile = "tools/run/src/package-names.test.ts";
const files = workspaceFiles([".md", ".ts", ".mjs", ".sh", ".yaml", ".yml", ".json", ".tpl"]).filter(
  (path) => path !== thisFile && path !== "package-lock.json" && path !== "CHANGELOG.md",
);

/** An installation of the unscoped package: neither a path such as ./switchyard.tgz nor @switchyard/cli. */
const installs =
  /\b(?:npm|pnpm|yarn|bun)(?: global)? (?:install|i|add|exec|dlx|x)(?: -{1,2}[\w-]+(?:=\S+)?)* switchyard(?![\w./-])/;
const publishes = /\bnpm publish\b/;
const runs = /\b(?:npx|pnpx|bunx)(?: -{1,2}[\w-]+)* switchyard\b/;

function linesThat(pattern: RegExp): readonly string[] {
  return files.flatMap((path) =>
    readWorkspaceFile(path)
      .split("\n")
      .flatMap((line, index) => (pattern.test(line) ? [`${path}:${index + 1} ${line.trim()}`] : [])),
  );
}

describe("the name of the command line", () => {
  it("is never given to a package manager, whose registry has it for another project", () => {
    expect(linesThat(installs)).toEqual([]);
  });

  it("is never published to a registry", () => {
    expect(linesThat(publishes)).toEqual([]);
  });

  it.each([
    "npm install --global switchyard",
    "npm i -g switchyard@1.2.0",
    "yarn add switchyard",
    "pnpm dlx switchyard plan",
  ])("would be found in: %s", (line) => {
    expect(line).toMatch(installs);
  });

  it.each([
    "npm install ./switchyard-1.2.0.tgz",
    "npm install @switchyard/cli",
    "npm ci",
    "helm install switchyard charts",
  ])("is no package in: %s", (line) => {
    expect(line).not.toMatch(installs);
  });

  it("is run by npx only where the page says that this needs a checkout", () => {
    const pages = files.filter((path) => path.endsWith(".md") && runs.test(readWorkspaceFile(path)));
    expect(pages).toContain("README.md");
    expect(pages.flatMap((path) => blocksOf(path).filter(saysNothingOfCheckout))).toEqual([]);
  });
});

/** The blocks of a page that have the command: paragraphs, items, rows, and blocks of code with the paragraph before. */
function blocksOf(path: string): readonly string[] {
  const paragraphs = readWorkspaceFile(path).split(/\n\n|\n(?=[-|] )/);
  return paragraphs.flatMap((text, index) =>
    runs.test(text) ? [`${path}: ${text.startsWith("```") ? `${paragraphs[index - 1] ?? ""}\n` : ""}${text}`] : [],
  );
}

function saysNothingOfCheckout(block: string): boolean {
  return !/\bcheckout\b|\bnpm ci\b/.test(block);
}
