// SPDX-License-Identifier: Apache-2.0
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import type { Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { announce, findRunning } from "./background.ts";

describe("a control plane in the background", () => {
  const whereabouts = { kubeconfig: "/tmp/x/admin.kubeconfig", server: "https://127.0.0.1:20000" };
  let directory: string;
  let path: string;
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), "background-"));
    path = join(directory, "socket");
  });
  afterEach(() => rm(directory, { recursive: true }));

  it("tells where it is, and ends when one who found it wants that", async () => {
    const { promise: stopped, resolve: stop } = Promise.withResolvers<undefined>();
    const announced = await announce(path, whereabouts, () => {
      announced.close();
      stop(undefined);
    });
    const looking = await findRunning(path);
    looking?.release();
    expect(looking?.whereabouts).toEqual(whereabouts);

    const sockets: Socket[] = [];
    announced.on("connection", (socket: Socket) => sockets.push(socket));
    const found = await findRunning(path);
    const stopping = found?.stop();
    await stopped;
    // What the end of the process does.
    for (const socket of sockets) socket.destroy();
    await stopping;
    expect(await findRunning(path)).toBeUndefined();
  });

  it("is not there when nobody listens, whatever was left at the path", async () => {
    expect(await findRunning(path)).toBeUndefined();
    await writeFile(path, "left over");
    expect(await findRunning(path)).toBeUndefined();
    const announced = await announce(path, whereabouts, () => undefined);
    const found = await findRunning(path);
    expect(found?.whereabouts).toEqual(whereabouts);
    found?.release();
    announced.close();
    await once(announced, "close");
  });
});
