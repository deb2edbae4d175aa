// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { createApiServerAddresses } from "./api-server.ts";

describe("createApiServerAddresses", () => {
  it("returns an IP address unchanged, and nothing without a host", async () => {
    const lookUp = () => Promise.reject(new Error("no lookup expected"));
    expect(await createApiServerAddresses(() => "192.0.2.1", { lookUp })()).toEqual(["192.0.2.1"]);
    expect(await createApiServerAddresses(() => "2001:db8::1", { lookUp })()).toEqual(["2001:db8::1"]);
    expect(await createApiServerAddresses(() => undefined, { lookUp })()).toEqual([]);
  });

  it("looks a name up once a minute, and keeps the addresses while that fails", async () => {
    const world = { nowMs: 0, answers: ["192.0.2.2", "192.0.2.1"] as readonly string[] | undefined, lookups: 0 };
    const addresses = createApiServerAddresses(() => "api.example", {
      clock: { nowMs: () => world.nowMs },
      lookUp() {
        world.lookups += 1;
        return world.answers === undefined ? Promise.reject(new Error("ENOTFOUND")) : Promise.resolve(world.answers);
      },
    });
    const { answers } = world;
    world.answers = undefined;
    expect(await addresses()).toEqual([]);
    world.answers = answers;
    expect([await addresses(), await addresses()]).toEqual(Array(2).fill(["192.0.2.1", "192.0.2.2"]));
    expect(world.lookups).toBe(2);
    world.nowMs = 60_000;
    world.answers = undefined;
    expect(await addresses()).toEqual(["192.0.2.1", "192.0.2.2"]);
    world.answers = ["192.0.2.9"]; // the control plane has moved
    expect(await addresses()).toEqual(["192.0.2.9"]);
  });

  it("follows a server that gets another name, whose addresses are not those of the former", async () => {
    let host = "old.example";
    const addresses = createApiServerAddresses(() => host, {
      lookUp: (name) => (name === "old.example" ? Promise.resolve(["192.0.2.1"]) : Promise.reject(new Error("no"))),
    });
    expect(await addresses()).toEqual(["192.0.2.1"]);
    host = "new.example";
    expect(await addresses()).toEqual([]);
  });
});
