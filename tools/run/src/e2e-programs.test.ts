// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { readdirSync } from "node:fs";
import { needsOfFolders, needsOfTests, programsIn } from "./e2e-programs.ts";
import { readWorkspaceFile, workspaceFiles, workspacePath } from "./workspace-files.ts";

const configFile = "e2e/jest.config.js";

/** Folders of e2e whose tests `npm run e2e` runs. */
const folders = readdirSync(workspacePath("e2e"), { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && entry.name !== "integration" && entry.name !== "src")
  .map(({ name }) => name)
  .filter((name) => workspaceFiles([".test.ts"]).some((path) => path.startsWith(`e2e/${name}/`)));

it("npm run e2e runs the tests of each folder", () => {
  const quoted = [...readWorkspaceFile(configFile).matchAll(/^ {2}"([\w-]+)",$/gm)].map(([, name = ""]) => name);
  expect(quoted.toSorted()).toEqual(folders.toSorted());
});

describe("the programs that npm run e2e installs", () => {
  it("are known for each folder", () => {
    expect(Object.keys(needsOfFolders).sort()).toEqual(folders.toSorted());
  });

  it.each(folders)("include all that the sources of %s start", (folder) => {
    const sources = workspaceFiles([".ts"]).filter((path) => path.startsWith(`e2e/${folder}/`));
    const started = new Set(sources.flatMap((path) => programsIn(readWorkspaceFile(path))));
    const { programs } = needsOfFolders[folder] ?? { programs: [] };
    expect([...started].filter((program) => !programs.includes(program))).toEqual([]);
  });

  it.each(folders)("include the VM lab's, if a source of %s boots a guest", (folder) => {
    const sources = workspaceFiles([".ts"]).filter((path) => path.startsWith(`e2e/${folder}/`));
    const boots = sources.some((path) => readWorkspaceFile(path).includes("bootGuest("));
    expect(boots && needsOfFolders[folder]?.lab !== true).toBe(false);
  });

  it("are those of the folders of the chosen tests", () => {
    const { programs, lab } = needsOfTests(["/x/e2e/site/site.test.ts", "/x/e2e/headlamp/headlamp.test.ts"]);
    expect([programs, lab]).toEqual([["chromium", "tar"], false]);
    expect(needsOfTests(["/x/e2e/cluster/cluster.test.ts"])).toMatchObject({ lab: true });
    expect(needsOfTests(["/x/e2e/cluster/cluster.test.ts"]).programs).toContain("busybox");
  });
});
