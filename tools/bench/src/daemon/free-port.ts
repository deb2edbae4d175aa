// SPDX-License-Identifier: Apache-2.0
/**
 * findFreePort finds a free port on the loopback interface.
 * Usage: `bootGuest({ hostForwards: [{ hostPort: await findFreePort(), guestPort: 8080 }] })`
 */
import { once } from "node:events";
import { createServer } from "node:net";

/**
 * Another process may take the port before it is used, which is unlikely because the kernel assigns other ports first.
 */
export async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  return typeof address === "object" && address !== null ? address.port : 0;
}
