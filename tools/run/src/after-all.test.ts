// SPDX-License-Identifier: Apache-2.0
/**
 * When beforeAll fails, Jest still calls afterAll, and prints the TypeError of a variable that was never set before the error that
 * matters. So the afterAll of tests that need minutes uses disposeOf (e2e/src/dispose-of.ts).
 */
import { expect, it } from "@jest/globals";
import { readWorkspaceFile, workspaceFiles } from "./workspace-files.ts";

const tests = workspaceFiles([".ts"]).filter((path) => /^e2e\/(?!integration\/|src\/)/.test(path));

it("afterAll of the tests of npm run e2e survives a beforeAll that failed", () => {
  const disposals = tests.flatMap((path) =>
    [...readWorkspaceFile(path).matchAll(/^ *afterAll\(async \(\) => \{\n(.*?)\n *\}(?:, [\w_]+)?\);$/gms)]
      .filter(([, body = ""]) => /\b\w+\[Symbol\.asyncDispose\]\(\)/.test(body))
      .map(() => path),
  );
  expect(disposals).toEqual([]);
});
