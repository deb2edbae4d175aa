// SPDX-License-Identifier: Apache-2.0
/**
 * A port of the loopback that nobody has.
 * Usage: `bootGuest({ hostForwards: [{ hostPort: await findFreePort(), guestPort: 8080 }] })`
 */
import { once } from "node:events";
import { createServer } from "node:net";

/** Another process may take it before it is used; the kernel hands out others first. */
export async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  return typeof address === "object" && address !== null ? address.port : 0;
}
