// SPDX-License-Identifier: Apache-2.0
/** Contract cases of files. */
import assert from "node:assert/strict";
import { largestTextBytes, type HostFiles } from "../../ports/host-files.ts";
import { assertRefused, type ContractWorld } from "./world.ts";

/** The parts of a world that these cases need. */
export type FileWorld = Pick<ContractWorld, "writeFile" | "linkFile"> & {
  readonly host: { readonly files: HostFiles };
};

export interface FileCase {
  readonly name: string;
  run(world: FileWorld): Promise<void>;
}

/** A directory that nothing else uses, and that does not survive a reboot. */
const directory = "/run/switchyard-contract";
const [file, link, other] = [`${directory}/a.rules`, `${directory}/b.rules`, `${directory}/inner/c.rules`];

export const fileCases: readonly FileCase[] = [
  {
    name: "reads a file, and does not follow a link",
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
    name: "finds nothing at a path that does not exist",
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
    name: "removes a link but not its target, and refuses to remove a directory",
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
    name: "writes a file, replaces files and links, and refuses to replace a directory",
    async run({ host: { files }, writeFile, linkFile }) {
      await files.writeText(other, "1");
      await files.writeText(other, "2");
      await linkFile(link, other);
      await files.writeText(link, "3");
      assert.deepEqual([await files.readText(link), await files.readText(other)], ["3", "2"]);
      await assertRefused(files.writeText(`${directory}/inner`, ""), "EISDIR");
      await writeFile(file, "");
      assert.deepEqual(await files.listNames(directory), ["a.rules", "b.rules", "inner"]);
      for (const path of [file, link, other]) await files.remove(path);
    },
  },
  {
    name: "does not read a text that is larger than 1 MiB",
    async run({ host: { files }, writeFile }) {
      await writeFile(file, "x".repeat(largestTextBytes));
      assert.equal((await files.readText(file))?.length, largestTextBytes);
      await writeFile(file, "x".repeat(largestTextBytes + 1));
      assert.deepEqual([await files.readText(file), await files.readKind(file)], [undefined, "file"]);
      await files.remove(file);
    },
  },
];
