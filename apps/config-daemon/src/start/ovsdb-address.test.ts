// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { defaultOvsdbAddress, ovsdbAddress } from "./ovsdb-address.ts";

describe("ovsdbAddress", () => {
  it.each([defaultOvsdbAddress, "unix:/run/x.sock", "unix:///run/x.sock", "tcp:127.0.0.1:6640", "tcp:[::1]:6640"])(
    "accepts %s",
    (text) => {
      expect(ovsdbAddress.parse(text)).toBe(text);
    },
  );

  it("is by default the socket of ovsdb-server on the host", () => {
    expect(defaultOvsdbAddress).toBe("/var/run/openvswitch/db.sock");
  });

  it.each(["", "db.sock", "unix:db.sock", "ssl:host:6640", "http://host/"])("refuses %j", (text) => {
    expect(ovsdbAddress.parse(text)).toBeUndefined();
  });
});
