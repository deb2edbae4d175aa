// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { parseEndpoint } from "./connection.ts";

describe("parseEndpoint", () => {
  it.each([
    { text: "unix:/run/openvswitch/db.sock", endpoint: { path: "/run/openvswitch/db.sock" } },
    { text: "unix:///run/openvswitch/db.sock", endpoint: { path: "/run/openvswitch/db.sock" } },
    { text: "/run/openvswitch/db.sock", endpoint: { path: "/run/openvswitch/db.sock" } },
    { text: "tcp:127.0.0.1:6641", endpoint: { host: "127.0.0.1", port: 6641 } },
    { text: "tcp:ovs.example", endpoint: { host: "ovs.example", port: 6640 } },
    { text: "tcp:[::1]:6640", endpoint: { host: "::1", port: 6640 } },
  ])("reads $text", ({ text, endpoint }) => {
    expect(parseEndpoint(text)).toEqual(endpoint);
  });

  it.each([
    "",
    "unix:",
    "unix:db.sock",
    "tcp:",
    "tcp:host:0",
    "tcp:host:65536",
    "tcp:::1",
    "ssl:127.0.0.1:6640",
    "unix:/a\0b",
  ])("refuses %j", (text) => {
    expect(() => parseEndpoint(text)).toThrow("is not an OVSDB endpoint: expected unix:/PATH or tcp:HOST:PORT");
  });
});
