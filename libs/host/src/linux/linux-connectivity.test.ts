// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { NetlinkSocket, protocols } from "@switchyard/netlink";
import { once } from "node:events";
import { createServer } from "node:net";
import { createLinuxConnectivity } from "./system/linux-connectivity.ts";

describe("an address", () => {
  it("answers if it accepts a connection or refuses it, and must be an IP address", async () => {
    await using socket = new NetlinkSocket({ protocol: protocols.route });
    const { readAnswer } = createLinuxConnectivity(socket);
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const address = server.address();
    const port = typeof address === "object" ? (address?.port ?? 0) : 0;
    expect(await readAnswer("127.0.0.1", port, 30_000)).toBe(true);
    server.close();
    await once(server, "close");
    expect(await readAnswer("127.0.0.1", port, 30_000)).toBe(true);
    // No host is routed there (RFC 6666).
    expect(await readAnswer("100::1", port, 100)).toBe(false);
    await expect(readAnswer("localhost", port, 100)).rejects.toMatchObject({ code: "EINVAL" });
  });
});
