// SPDX-License-Identifier: Apache-2.0
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { removeUnusedSockets } from "./plugin-sockets.ts";

const socket = "3f2b8a10-1111-4222-8333-0123456789ab.sock";
const hour = 3_600_000;
let directory: string;
const servers: Server[] = [];

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "switchyard-adp-"));
});
afterEach(async () => {
  for (const server of servers.splice(0)) server.close();
  await rm(directory, { recursive: true });
});

/** Makes a socket, as the plugin does for a container. */
async function makeSocket(pool: string): Promise<string> {
  const path = join(directory, `afxdp_${pool}`, socket);
  await mkdir(join(directory, `afxdp_${pool}`), { recursive: true });
  const server = createServer();
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(path, resolve));
  return path;
}

const remove = (pools: readonly string[], held: readonly string[], aheadMs = hour) =>
  removeUnusedSockets({
    directory,
    pools: new Set(pools),
    held: new Set(held),
    ageOf: (_path, changedMs) => Date.now() + aheadMs - changedMs,
  });

describe("removeUnusedSockets", () => {
  it("removes the sockets of a pool of which no pod has a device, and its directory", async () => {
    const path = await makeSocket("intel");
    const held = await makeSocket("held");
    expect(await remove(["intel", "held"], ["held"])).toEqual([path]);
    expect(await readdir(directory)).toEqual(["afxdp_held"]);
    expect(await remove(["held"], [])).toEqual([held]);
    expect(await remove(["held"], [])).toEqual([]);
  });

  it("leaves young sockets, other files and the sockets of other pools", async () => {
    await makeSocket("intel");
    await makeSocket("other");
    expect(await remove(["intel"], [], 60_000)).toEqual([]);
    const notes = join(directory, "afxdp_intel/notes.txt");
    const plain = join(directory, "afxdp_intel/00000000-1111-4222-8333-0123456789ab.sock");
    for (const path of [notes, plain]) await writeFile(path, "");
    expect(await remove(["intel", "absent"], [])).toHaveLength(1);
    expect(await readdir(join(directory, "afxdp_intel"))).toEqual([
      "00000000-1111-4222-8333-0123456789ab.sock",
      "notes.txt",
    ]);
    expect(await readdir(join(directory, "afxdp_other"))).toEqual([socket]);
  });
});
