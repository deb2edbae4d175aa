// SPDX-License-Identifier: Apache-2.0
/** What a pod loads of an app's bundle (docs/decisions/001-kubernetes-transport.md). */
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { isBuiltin } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

const root = join(process.cwd().replace(/[/\\]tools[/\\]run$/, ""));
const apps = ["config-daemon", "device-plugin-config", "operator", "webhook"];

/** Each stands in its package, and in no other. */
const marks = {
  "@kubernetes/client-node": "kubernetes-client-javascript",
  "openid-client": "OAUTH_TIMEOUT",
  undici: "UND_ERR_SOCKET",
};

let directory = "";
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), "switchyard-bundle-"));
  for (const app of apps) bundle(app, join(directory, app));
}, 240_000);

afterAll(() => {
  rmSync(directory, { recursive: true, force: true });
});

function bundle(app: string, outdir: string): void {
  const script = join(root, "tools/nx/bundle.js");
  execFileSync(process.execPath, [script, "src/main.ts", outdir], { cwd: join(root, "apps", app) });
}

/** The file and all that it imports before it runs. */
function loadedWith(file: string, seen = new Set<string>()): ReadonlySet<string> {
  if (seen.has(file)) return seen;
  seen.add(file);
  const imports = readFileSync(file, "utf8").matchAll(/(?:\bfrom|\bimport)\s*"(\.[^"]+)"/g);
  for (const [, path = ""] of imports) loadedWith(join(dirname(file), path), seen);
  return seen;
}

const chunksOf = (app: string) => readdirSync(join(directory, app, "chunks")).filter((name) => name.endsWith(".js"));
const has = (file: string, mark: string) => readFileSync(file, "utf8").includes(mark);

describe.each(apps)("the bundle of %s", (app) => {
  it.each(Object.entries(marks))("has %s, in a chunk that is loaded only with a kubeconfig", (_, mark) => {
    const chunks = chunksOf(app).map((name) => join(directory, app, "chunks", name));
    expect(chunks.filter((file) => has(file, mark))).toHaveLength(1);
    expect([...loadedWith(join(directory, app, "main.js"))].filter((file) => has(file, mark))).toEqual([]);
  });
});

describe("gRPC", () => {
  it.each([
    { app: "device-plugin-config", service: "runDevicePluginConfig" }, // for the plugin for AF_XDP only
    { app: "config-daemon", service: "runConfigDaemon" }, // when XDP programs are left
  ])("is in a chunk of $app that is loaded when it is needed", ({ app, service }) => {
    const mark = "grpc-node-js/"; // its user agent
    const own = join(directory, app);
    const chunks = chunksOf(app).map((name) => join(own, "chunks", name));
    expect(chunks.filter((file) => has(file, mark))).toHaveLength(1);
    const entries = chunks.filter((file) => has(file, service));
    const loaded = [join(own, "main.js"), ...entries].flatMap((file) => [...loadedWith(file)]);
    expect(loaded.filter((file) => has(file, mark))).toEqual([]);
    expect(entries.length).toBeGreaterThan(0);
  });
});

describe("a bundle", () => {
  it.each(apps)(
    "of %s gets Node's own modules without importing them, which would read all of their exports",
    (app) => {
      const imported = [...loadedWith(join(directory, app, "main.js"))].flatMap((file) => {
        const imports = readFileSync(file, "utf8").matchAll(/(?:\bfrom|\bimport)\s*"([^."][^"]*)"/g);
        return [...imports].map(([, name = ""]) => name).filter(isBuiltin);
      });
      expect(imported).toEqual([]);
    },
  );

  it("can be copied, and finds its chunks there", () => {
    const copy = join(directory, "copy");
    cpSync(join(directory, "operator"), copy, { recursive: true });
    const args = [join(copy, "main.js"), "--kubeconfig", "/nowhere/config", "--namespace", "ns"];
    const { status, stderr } = spawnSync(process.execPath, args, { encoding: "utf8" });
    expect(status).toBe(1);
    expect(stderr).toContain("use kubeconfig /nowhere/config: BadConfig");
    expect(stderr).not.toContain("Warning");
  });
});
