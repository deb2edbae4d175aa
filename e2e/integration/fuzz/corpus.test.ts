// SPDX-License-Identifier: Apache-2.0
/** Every reader of bytes from others still treats the inputs as it must that fuzz runs have found (`npm run e2e -- fuzz`). */
import { describe, expect, it } from "@jest/globals";
import type { FuzzTarget } from "@switchyard/testing/fuzz";
import { findWorkspaceRoot } from "@switchyard/testing/workspace-root";
import { globSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { corpusFolder, readInputs } from "../../fuzz/corpus.ts";
import { fuzzFiles } from "../../fuzz/fuzz-files.ts";

const root = findWorkspaceRoot();
process.chdir(root); // targets name their test data from there

async function targetsOf(file: string): Promise<readonly FuzzTarget[]> {
  return ((await import(join(root, file))) as { targets: readonly FuzzTarget[] }).targets;
}

describe("the targets of fuzz runs", () => {
  it("are those of all files with targets", () => {
    const found = globSync("{apps,libs,tools}/*/src/**/*.fuzz.ts", { cwd: root });
    const besideReaders = fuzzFiles.filter((file) => !file.startsWith("e2e/"));
    expect(found.toSorted()).toEqual(besideReaders.toSorted());
  });

  it("have names of their own, and each folder of the corpus has a target", async () => {
    const names = (await Promise.all(fuzzFiles.map(targetsOf))).flat().map(({ name }) => name);
    expect(names).toEqual([...new Set(names)]);
    expect(readdirSync(corpusFolder("."))).toEqual(names.toSorted());
  });

  it.each(fuzzFiles)("treat the inputs of %s as they must", async (file) => {
    for (const { name, seeds, run } of await targetsOf(file)) {
      for (const input of [...seeds.map((seed) => Buffer.from(seed)), ...readInputs(corpusFolder(name))]) {
        try {
          await run(input);
        } catch (cause) {
          throw new Error(`target ${name}, input ${JSON.stringify(input.toString("latin1").slice(0, 500))}`, { cause });
        }
      }
    }
  });
});
