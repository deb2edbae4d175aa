// SPDX-License-Identifier: Apache-2.0
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chooseRelease, envtestPlatform, unpackEnvtest } from "./envtest-archive.ts";

function renderIndex(
  releases: readonly { version: string; platform?: string; sha512?: string; url?: string }[],
): string {
  const entries = releases.map(
    ({ version, platform = "linux-amd64", sha512 = "abc", url = `https://host/${version}` }) => [
      `  v${version}:`,
      `    envtest-v${version}-${platform}.tar.gz:`,
      `      hash: ${sha512}`,
      `      selfLink: ${url}`,
    ],
  );
  return ["releases:", ...entries.flat(), ""].join("\n");
}

describe("chooseRelease", () => {
  const index = renderIndex([
    { version: "1.35.9" },
    { version: "1.36.0" },
    { version: "1.36.10" },
    { version: "1.36.2" },
    { version: "1.36.11", platform: "darwin-arm64" },
    { version: "1.36.12-rc.1" },
    { version: "1.37.0" },
  ]);

  it("returns the newest patch release of the minor version for the platform", () => {
    expect(chooseRelease(index, "1.36.3", "linux-amd64")).toEqual({
      version: "1.36.10",
      sha512: "abc",
      url: "https://host/1.36.10",
    });
  });

  it("has archives for a Mac", () => {
    const platform = envtestPlatform({ platform: "darwin", arch: "arm64" });
    expect(chooseRelease(index, "1.36.3", platform)?.version).toBe("1.36.11");
    expect(envtestPlatform({ platform: "darwin", arch: "x64" })).toBe("darwin-amd64");
  });

  it("returns undefined for an unknown platform, version or format", () => {
    expect(chooseRelease(index, "1.36.3", "linux-s390x")).toBeUndefined();
    expect(chooseRelease(index, "1.3.0", "linux-amd64")).toBeUndefined();
    expect(chooseRelease("<html>", "1.36.3", "linux-amd64")).toBeUndefined();
  });
});

describe("unpackEnvtest", () => {
  let directory: string;
  let server: Server;
  let origin: string;
  let archive: Buffer;
  let sha512: string; // in the index

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), "envtest-"));
    const inside = join(directory, "controller-tools/envtest");
    await mkdir(inside, { recursive: true });
    await writeFile(join(inside, "etcd"), "#!/bin/sh\n", { mode: 0o755 });
    archive = execFileSync("tar", ["-cz", "-C", directory, "controller-tools"]);
    server = createServer((request, response) => {
      if (request.url === "/silent") return;
      const index = renderIndex([{ version: "1.36.1", url: `${origin}/archive`, sha512 }]);
      response.end(request.url === "/archive" ? archive : index);
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    const address = server.address();
    origin = `http://127.0.0.1:${typeof address === "object" ? address?.port : address}`;
  });

  afterAll(async () => {
    server.closeAllConnections();
    server.close();
    await rm(directory, { recursive: true });
  });

  async function unpackFrom(path: string): Promise<string> {
    const outDirectory = await mkdtemp(join(directory, "out-"));
    const request = { indexUrl: origin + path, kubernetes: "1.36.3", platform: "linux-amd64", outDirectory };
    await unpackEnvtest({ ...request, write: () => undefined, reachWithinMs: 200 });
    return outDirectory;
  }

  it("unpacks an archive with the checksum of the index", async () => {
    sha512 = createHash("sha512").update(archive).digest("hex");
    const out = await unpackFrom("/index");
    expect(await readdir(out)).toEqual(["etcd"]);
    expect(await readFile(join(out, "etcd"), "utf8")).toBe("#!/bin/sh\n");
  });

  it("rejects an archive with another checksum", async () => {
    sha512 = "00";
    await expect(unpackFrom("/index")).rejects.toMatchObject({ code: "archive" });
  });

  it("rejects when the host does not respond in time", async () => {
    await expect(unpackFrom("/silent")).rejects.toMatchObject({ code: "archive" });
  });
});
