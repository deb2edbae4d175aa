// SPDX-License-Identifier: Apache-2.0
/** The archives are made by the tar of the distribution. */
import { describe, expect, it } from "@jest/globals";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readFiles } from "./read-files.ts";
import { readTar, TarError } from "./read-tar.ts";

const manifest = "apiVersion: v1\nkind: Node\nmetadata: {name: a}\n";
const long = `${"d".repeat(90)}/${"e".repeat(120)}`;

/** Runs `use` with an archive of three files, one of them with a long name. */
async function withArchive(flags: readonly string[], name: string, use: (file: string) => unknown): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "read-tar-"));
  try {
    mkdirSync(join(folder, "in", long), { recursive: true });
    writeFileSync(join(folder, "in", "a.yaml"), manifest);
    writeFileSync(join(folder, "in", long, "b.yaml"), manifest.replace("{name: a}", "{name: b}"));
    writeFileSync(join(folder, "in", "pod.log"), "x".repeat(2000));
    execFileSync("tar", [...flags, "-f", join(folder, name), "-C", join(folder, "in"), "."]);
    await use(join(folder, name));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function* nothing(): AsyncGenerator<string> {}

describe("readTar", () => {
  it.each([
    { what: "pax", flags: ["-c", "--format=pax"], name: "x.tar" },
    { what: "GNU", flags: ["-c", "--format=gnu"], name: "x.tar" },
    { what: "gzip", flags: ["-cz"], name: "x.tar.gz" },
  ])("reads the manifests of an archive: $what", async ({ flags, name }) => {
    await withArchive(flags, name, async (file) => {
      const { manifests, problems } = await readFiles([file], nothing());
      expect(problems).toEqual([]);
      expect(manifests.map((each) => each.name)).toEqual(["a", "b"]);
      expect(manifests[0]?.origin).toBe(`${file}:./a.yaml:1`);
    });
  });

  it("reports an archive that is cut off, and one that is not compressed as it says", async () => {
    await withArchive(["-c"], "x.tar", (file) => {
      const bytes = readFileSync(file);
      const offset = bytes.indexOf("xxxx");
      expect(() => readTar(bytes.subarray(0, offset + 100), () => true)).toThrow(TarError);
      expect(() => readTar(Buffer.from([0x1f, 0x8b, 1, 2, 3]), () => true)).toThrow(TarError);
    });
  });
});
