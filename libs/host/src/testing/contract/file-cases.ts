// SPDX-License-Identifier: Apache-2.0
/** What must hold of the host's files. */
import assert from "node:assert/strict";
import { largestTextBytes, type HostFiles } from "../../ports/host-files.ts";
import { assertRefused, type ContractWorld } from "./world.ts";

/** All that these cases need of a world. */
export type FileWorld = Pick<ContractWorld, "writeFile" | "linkFile"> & {
  readonly host: { readonly files: HostFiles };
};

export interface FileCase {
  readonly name: string;
  run(world: FileWorld): Promise<void>;
}

/** Nobody else's, and gone after the next boot. */
const directory = "/run/switchyard-contract";
const [file, link, other] = [`${directory}/a.rules`, `${directory}/b.rules`, `${directory}/inner/c.rules`];

export const fileCases: readonly FileCase[] = [
  {
    name: "reads what stands in a file, and nothing through a link",
    async run({ host: { files }, writeFile, linkFile }) {
      await writeFile(file, 'NAME="a"\n');
      await linkFile(link, file);
      await writeFile(other, "");
      assert.deepEqual(await files.listNames(directory), ["a.rules", "b.rules", "inner"]);
      const kinds = await Promise.all([file, link, `${directory}/inner`].map((path) => files.readKind(path)));
      assert.deepEqual(kinds, ["file", "link", "directory"]);
      assert.deepEqual([await files.readText(file), await files.readText(link)], ['NAME="a"\n', undefined]);
      assert.deepEqual([await files.readLink(file), await files.readLink(link)], [undefined, file]);
      assert.equal(await files.readText(other), "");
      for (const path of [file, link, other]) await files.remove(path);
    },
  },
  {
    name: "finds nothing where there is nothing",
    async run({ host: { files } }) {
      const missing = `${directory}/missing`;
      assert.deepEqual(await files.listNames(missing), []);
      const found = [await files.readKind(missing), await files.readText(missing), await files.readLink(missing)];
      assert.deepEqual(found, [undefined, undefined, undefined]);
      await files.remove(missing);
      await files.remove(`${missing}/too`);
    },
  },
  {
    name: "removes a link and not what it points to, and no directory",
    async run({ host: { files }, writeFile, linkFile }) {
      await writeFile(other, "x");
      await linkFile(link, other);
      await files.remove(link);
      assert.deepEqual([await files.readKind(link), await files.readText(other)], [undefined, "x"]);
      await assertRefused(files.remove(`${directory}/inner`), "EISDIR");
      await files.remove(other);
      assert.equal(await files.readKind(other), undefined);
    },
  },
  {
    name: "reads no text that is larger than 1 MiB",
    async run({ host: { files }, writeFile }) {
      await writeFile(file, "x".repeat(largestTextBytes));
      assert.equal((await files.readText(file))?.length, largestTextBytes);
      await writeFile(file, "x".repeat(largestTextBytes + 1));
      assert.deepEqual([await files.readText(file), await files.readKind(file)], [undefined, "file"]);
      await files.remove(file);
    },
  },
];
