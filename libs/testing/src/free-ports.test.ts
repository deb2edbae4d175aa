// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { once } from "node:events";
import { createServer } from "node:net";
import { findFreePorts, isPortTaken } from "./free-ports.ts";

describe("findFreePorts", () => {
  it("returns different ports outside the range of outgoing connections", async () => {
    const ports = await findFreePorts(20);
    expect(new Set(ports).size).toBe(20);
    expect(ports.filter((port) => port < 13_000 || port > 32_767)).toEqual([]);
  });

  it("distinguishes used and free ports", async () => {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const address = server.address();
    const port = typeof address === "object" ? (address?.port ?? 0) : 0;
    expect(await isPortTaken(port)).toBe(true);
    server.close();
    await once(server, "close");
    expect(await isPortTaken(port)).toBe(false);
  });
});
