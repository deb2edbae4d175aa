// SPDX-License-Identifier: Apache-2.0
import { afterEach, describe, expect, it } from "@jest/globals";
import { chmod, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ensurePrograms, missingPrograms } from "./debian-programs.ts";

const directories: string[] = [];

afterEach(async () => {
  for (const directory of directories.splice(0)) await rm(directory, { recursive: true });
});

/** A machine whose PATH has these programs only. `mmdebstrap` and `dnsmasq` are in no directory that is always searched. */
async function machineWith(programs: Readonly<Record<string, string>>) {
  const directory = await mkdtemp(join(tmpdir(), "switchyard-programs-"));
  directories.push(directory);
  for (const [name, script] of Object.entries(programs)) {
    await writeFile(join(directory, name), `#!/bin/sh\n${script}\n`);
    await chmod(join(directory, name), 0o755);
  }
  const lines: string[] = [];
  const env = { PATH: directory, HERE: directory };
  return { directory, options: { env, isRoot: true, progress: (line: string) => void lines.push(line) } };
}

describe("ensurePrograms", () => {
  it("installs only the packages of the programs that are missing", async () => {
    const apt =
      'echo "$@" >>"$HERE/calls"; [ "$2" = update ] || { : >"$HERE/chromium"; /bin/chmod +x "$HERE/chromium"; }';
    const { directory, options } = await machineWith({ mmdebstrap: "", "apt-get": apt });
    await ensurePrograms(["mmdebstrap", "chromium"], options);
    expect((await readFile(join(directory, "calls"), "utf8")).trim().split("\n")).toEqual([
      "-qq update",
      "-qq install -y --no-install-recommends -o DPkg::Lock::Timeout=300 chromium",
    ]);
    expect(await missingPrograms(["chromium"], options.env)).toEqual([]);
  });

  it("installs nothing if all programs are there", async () => {
    const { options } = await machineWith({ mmdebstrap: "", "apt-get": "exit 1" });
    await ensurePrograms(["mmdebstrap"], options);
  });

  it("says as another user than root what to install", async () => {
    const { options } = await machineWith({ "apt-get": "exit 1" });
    await expect(ensurePrograms(["buildah", "chromium"], { ...options, isRoot: false })).rejects.toMatchObject({
      code: "programs",
      message: "not installed: buildah, chromium; as root: apt-get install -y --no-install-recommends buildah chromium",
    });
  });

  it("says on a distribution without apt-get what to install", async () => {
    const { options } = await machineWith({});
    await expect(ensurePrograms(["chromium"], options)).rejects.toMatchObject({
      message: "not installed: chromium; as root: apt-get install -y --no-install-recommends chromium",
    });
  });

  it("reports an installation that failed, and one that did not bring the program", async () => {
    const failing = await machineWith({ "apt-get": '[ "$2" = update ]' });
    await expect(ensurePrograms(["chromium"], failing.options)).rejects.toMatchObject({
      message: "not installed: chromium; apt-get install -y --no-install-recommends chromium failed",
    });
    const useless = await machineWith({ "apt-get": "exit 0" });
    await expect(ensurePrograms(["chromium"], useless.options)).rejects.toMatchObject({
      message: "not installed: chromium; the packages chromium do not have them",
    });
  });

  it("finds header files by their path", async () => {
    expect(await missingPrograms(["/usr/include/bpf/libbpf.h", "mount"], { PATH: "/usr/bin:/bin" })).not.toContain(
      "mount",
    );
  });
});
