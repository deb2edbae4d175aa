// SPDX-License-Identifier: Apache-2.0
/** The archives are made by the tar of the distribution. */
import { describe, expect, it } from "@jest/globals";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { readFiles } from "./read-files.ts";
import { readTar, TarError, tarLimits } from "./read-tar.ts";

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

const end = Buffer.alloc(1024);

/** An entry as tar writes it, without the fields that are not read. */
function entry(name: string, type: string, content: Buffer): Buffer {
  const header = Buffer.alloc(512);
  header.write(name, 0);
  header.write(content.length.toString(8).padStart(11, "0"), 124);
  header.write(type, 156);
  return Buffer.concat([header, content, Buffer.alloc((512 - (content.length % 512)) % 512)]);
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
    await withArchive(["-c"], "x.tar", async (file) => {
      const bytes = readFileSync(file);
      const offset = bytes.indexOf("xxxx");
      await expect(readTar(bytes.subarray(0, offset + 100), () => true)).rejects.toThrow(TarError);
      await expect(readTar(Buffer.from([0x1f, 0x8b, 1, 2, 3]), () => true)).rejects.toThrow(TarError);
    });
  });

  it("refuses a name of GNU with more than 4,096 bytes at once, and cuts a name at the first NUL", async () => {
    const nuls = gzipSync(Buffer.concat([entry("././@LongLink", "L", Buffer.from(`${"\0".repeat(160_000)}x`)), end]));
    const startedMs = performance.now();
    await expect(readTar(nuls, () => true)).rejects.toThrow("the archive has a name that is too long");
    expect(performance.now() - startedMs).toBeLessThan(1_000);
    const name = entry("././@LongLink", "L", Buffer.from(`${"d".repeat(200)}.yaml\0\0\0x`));
    const { files } = await readTar(Buffer.concat([name, entry("d", "0", Buffer.from("a: 1")), end]), () => true);
    expect(files).toEqual([{ name: `${"d".repeat(200)}.yaml`, text: "a: 1" }]);
  });

  it("skips what is not wanted, whatever its size, and names a file that is too large", async () => {
    const zeros = Buffer.alloc(20 * 1024 * 1024);
    const limits = { ...tarLimits, fileBytes: 1024, wantedBytes: 2048 };
    const parts = [
      entry("core.dump", "0", zeros),
      entry("big.yaml", "0", Buffer.alloc(1025)),
      entry("a.yaml", "0", Buffer.from("a")),
    ];
    const archive = gzipSync(Buffer.concat([...parts, end]), { level: 1 });
    const content = await readTar(archive, (name) => name.endsWith(".yaml"), limits);
    expect(content).toEqual({ files: [{ name: "a.yaml", text: "a" }], tooLarge: ["big.yaml"] });
    const many = Buffer.concat([...["a", "b", "c"].map((name) => entry(name, "0", Buffer.alloc(1000))), end]);
    await expect(readTar(many, () => true, limits)).rejects.toThrow("the files to read are larger than 1 MiB together");
  });
});
