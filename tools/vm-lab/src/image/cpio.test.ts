// SPDX-License-Identifier: Apache-2.0
import { chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import fc from "fast-check";
import { packCpio, readTree } from "./initrd.ts";

/** Parses an archive as the kernel does, written from the description of the format. */
function unpack(archive: Buffer): { path: string; mode: number; text: string }[] {
  const entries = [];
  for (let at = 0; ;) {
    expect(archive.toString("latin1", at, at + 6)).toBe("070701");
    const field = (index: number) => parseInt(archive.toString("latin1", at + 6 + 8 * index, at + 14 + 8 * index), 16);
    const [mode, size, nameSize] = [field(1), field(6), field(11)];
    const path = archive.toString("utf8", at + 110, at + 110 + nameSize - 1);
    const data = (at + 110 + nameSize + 3) & ~3;
    if (path === "TRAILER!!!") return entries;
    entries.push({ path, mode, text: archive.toString("utf8", data, data + size) });
    at = (data + size + 3) & ~3;
  }
}

const text = (words: string) => new TextEncoder().encode(words);

describe("packCpio", () => {
  it("creates the directories of a file before the file, outermost first", () => {
    expect(unpack(packCpio([{ path: "etc/lab/hosts", mode: 0o644, data: text("here\n") }]))).toEqual([
      { path: "etc", mode: 0o040755, text: "" },
      { path: "etc/lab", mode: 0o040755, text: "" },
      { path: "etc/lab/hosts", mode: 0o100644, text: "here\n" },
    ]);
  });

  it("keeps content of any length", () => {
    const contents = fc.array(fc.string(), { maxLength: 5 });
    const keeps = fc.property(contents, (words) => {
      const files = words.map((content, index) => ({
        path: `f${"x".repeat(index)}`,
        mode: 0o755,
        data: text(content),
      }));
      expect(unpack(packCpio(files)).map((entry) => entry.text)).toEqual(words);
    });
    fc.assert(keeps);
  });
});

describe("readTree", () => {
  let directory = "";
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), "cpio-"));
    await mkdir(join(directory, "usr/sbin"), { recursive: true });
    await writeFile(join(directory, "usr/sbin/init"), "#!/bin/sh\n");
    await writeFile(join(directory, "hosts"), "localhost\n");
    await chmod(join(directory, "usr/sbin/init"), 0o700);
    await chmod(join(directory, "hosts"), 0o660);
  });
  afterAll(() => rm(directory, { recursive: true }));

  it("puts a tree under a prefix, with modes that do not depend on the umask", async () => {
    const files = await readTree(directory, "rootfs");
    expect(files.map(({ path, mode }) => ({ path, mode }))).toEqual([
      { path: "rootfs/hosts", mode: 0o644 },
      { path: "rootfs/usr/sbin/init", mode: 0o755 },
    ]);
  });
});
