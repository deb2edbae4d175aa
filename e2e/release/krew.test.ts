// SPDX-License-Identifier: Apache-2.0
/** The kubectl plugin as `npm run release -- krew` makes it, unpacked as krew does and run by a real kubectl. */
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { buildPlugin, type Plugin } from "@switchyard/release";
import { ensureBinaries, findWorkspaceRoot, outputOf } from "@switchyard/testing";
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { arch, tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { parse } from "yaml";

interface Manifest {
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly version: string;
    readonly platforms: readonly {
      readonly selector: { readonly matchLabels: Readonly<Record<string, string>> };
      readonly uri: string;
      readonly sha256: string;
      readonly bin: string;
    }[];
  };
}

const root = findWorkspaceRoot();
const directory = mkdtempSync(join(tmpdir(), "switchyard-krew-"));
const output = join(directory, "output");
const options = { output, downloadUrl: "https://example.com/v1", epoch: 1_770_000_000 };
let plugin: Plugin;
let manifest: Manifest;
let kubectl: string;

/** Unpacks the archive of a platform, and links to its program, as krew does. Returns the directory of the link. */
async function install(name: string, labels: Readonly<Record<string, string>>): Promise<string> {
  const platform = manifest.spec.platforms.find(
    ({ selector }) => JSON.stringify(selector.matchLabels) === JSON.stringify(labels),
  );
  if (platform === undefined) throw new Error(`no platform ${JSON.stringify(labels)}`);
  const store = join(directory, name, "store");
  const bin = join(directory, name, "bin");
  for (const folder of [store, bin]) mkdirSync(folder, { recursive: true });
  await outputOf("tar", ["-xzf", join(output, basename(platform.uri)), "-C", store]);
  symlinkSync(join(store, platform.bin), join(bin, platform.bin));
  return bin;
}

function runPlugin(path: string, ...args: readonly string[]): Promise<string> {
  return outputOf(kubectl, ["switchyard", ...args], { env: { PATH: path } });
}

beforeAll(async () => {
  const binaries = await ensureBinaries({
    names: ["kubectl"],
    progress: (line) => void process.stderr.write(`${line}\n`),
  });
  kubectl = join(binaries, "kubectl");
  plugin = await buildPlugin(root, options);
  manifest = parse(readFileSync(plugin.manifest, "utf8")) as Manifest;
}, 900_000);

afterAll(() => {
  rmSync(directory, { recursive: true, force: true });
});

describe("the kubectl plugin", () => {
  it("is described with the digest of each archive", () => {
    expect(manifest.metadata.name).toBe("switchyard");
    for (const { uri, sha256 } of manifest.spec.platforms) {
      const archive = readFileSync(join(output, basename(uri)));
      expect({ uri, sha256 }).toEqual({
        uri: `https://example.com/v1/${basename(uri)}`,
        sha256: createHash("sha256").update(archive).digest("hex"),
      });
    }
  });

  it("runs by kubectl with the Node.js of its archive, without one on the machine", async () => {
    const bin = await install("own-node", { os: "linux", arch: arch() === "arm64" ? "arm64" : "amd64" });
    const path = `${bin}:/usr/sbin:/sbin:/bin`; // /bin has no node, or an older one
    expect(await runPlugin(path, "--help")).toContain("Usage: switchyard VERB");
    expect(await runPlugin(path, "version")).toBe(`switchyard ${manifest.spec.version.slice(1)}\n`);
    expect(await runPlugin(path, "validate", "-f", join(root, "libs/api/examples"))).toContain(", 0 rejected");
  }, 60_000);

  it("runs on macOS with the Node.js of the user, and says so if there is none or an old one", async () => {
    const bin = await install("darwin", { os: "darwin" });
    const tools = join(directory, "tools"); // what the launcher needs, and no node
    mkdirSync(tools);
    for (const tool of ["dirname", "readlink", "sh"]) symlinkSync(join("/bin", tool), join(tools, tool));
    expect(await runPlugin(`${bin}:${dirname(process.execPath)}:${tools}`, "version")).toContain("switchyard ");

    await expect(runPlugin(`${bin}:${tools}`, "version")).rejects.toThrow("no node is on the PATH");
    const old = join(directory, "old");
    mkdirSync(old);
    writeFileSync(join(old, "node"), `#!/bin/sh\nexec ${process.execPath} --import ${oldNode()} "$@"\n`, {
      mode: 0o755,
    });
    await expect(runPlugin(`${bin}:${old}:${tools}`, "version")).rejects.toThrow(
      "requires Node.js 22.19 or later, not v20",
    );
  }, 60_000);

  it("has the same archives if it is built again", async () => {
    const again = await buildPlugin(root, { ...options, output: join(directory, "again") });
    expect(readFileSync(again.manifest, "utf8")).toBe(readFileSync(plugin.manifest, "utf8"));
  }, 300_000);
});

/** A module that makes Node.js say that it is an older one. */
function oldNode(): string {
  const file = join(directory, "old-node.mjs");
  const versions = "{ ...process.versions, node: '20.20.2' }";
  writeFileSync(
    file,
    `Object.defineProperty(process, "versions", { value: ${versions} });\nObject.defineProperty(process, "version", { value: "v20.20.2" });\n`,
  );
  return file;
}
