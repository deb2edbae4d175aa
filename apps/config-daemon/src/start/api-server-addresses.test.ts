// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { createApiServerAddresses } from "./api-server.ts";

describe("createApiServerAddresses", () => {
  it("returns an IP address unchanged, and nothing without a host", async () => {
    const refuse = () => Promise.reject(new Error("no lookup expected"));
    expect(await createApiServerAddresses("192.0.2.1", refuse)()).toEqual(["192.0.2.1"]);
    expect(await createApiServerAddresses("2001:db8::1", refuse)()).toEqual(["2001:db8::1"]);
    expect(await createApiServerAddresses(undefined, refuse)()).toEqual([]);
  });

  it("looks a name up once, and again after a failure", async () => {
    let lookups = 0;
    const addresses = createApiServerAddresses("api.example", () => {
      lookups += 1;
      return lookups === 1 ? Promise.reject(new Error("ENOTFOUND")) : Promise.resolve(["192.0.2.2", "192.0.2.1"]);
    });
    expect(await addresses()).toEqual([]);
    expect(await addresses()).toEqual(["192.0.2.1", "192.0.2.2"]);
    expect(await addresses()).toEqual(["192.0.2.1", "192.0.2.2"]);
    expect(lookups).toBe(2);
  });
});
