// SPDX-License-Identifier: Apache-2.0
/** hasNoListener checks once, without waiting, whether a process listens on a Unix socket. */
import { connect } from "node:net";
import { errnoOf } from "../request/cni-error.ts";

/** Longer than a local socket takes to accept or refuse a connection. */
const probeMs = 1_000;

/** True only if it is certain: the socket does not exist, or it refuses connections. */
export function hasNoListener(path: string): Promise<boolean> {
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
