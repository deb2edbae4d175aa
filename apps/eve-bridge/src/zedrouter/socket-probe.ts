// SPDX-License-Identifier: Apache-2.0
/**
 * Whether a server is there, without waiting for one that may come.
 * Usage: `if (await nobodyListens("/run/cni/dhcp.sock")) …`.
 */
import { connect } from "node:net";
import { errnoOf } from "../request/cni-error.ts";

/** Longer than a local socket needs to take or refuse a connection. */
const probeMs = 1_000;

/** True only when it is certain: no socket, or one that its owner has left. */
export function nobodyListens(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ path });
    const answer = (nobody: boolean) => {
      clearTimeout(timer);
      socket.destroy();
      resolve(nobody);
    };
    const timer = setTimeout(answer, probeMs, false);
    socket.once("connect", () => {
      answer(false);
    });
    socket.once("error", (error) => {
      answer(["ENOENT", "ECONNREFUSED"].includes(errnoOf(error) ?? ""));
    });
  });
}
