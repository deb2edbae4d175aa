// SPDX-License-Identifier: Apache-2.0
/** createLinuxConnectivity implements Connectivity over rtnetlink and TCP. */
import { askNeighbour, defaultGateways, readNeighbour, type NetlinkSocket } from "@switchyard/netlink";
import { isErrno } from "@switchyard/service";
import { connect, isIP } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { HostError } from "../../calls/host-error.ts";
import { operations } from "../../calls/operations.ts";
import type { Connectivity } from "../../ports/connectivity.ts";
import { askKernel } from "./ask-kernel.ts";

const pollMs = 100;

/** The caller disposes of the socket, which is of protocol route. */
export function createLinuxConnectivity(socket: NetlinkSocket): Connectivity {
  const { connectivity: at } = operations;
  return {
    listGateways: () => askKernel(at.listGateways(), () => defaultGateways(socket)),
    async readAnswer(address, port, timeoutMs) {
      if (isIP(address) === 0) throw new HostError(at.readAnswer(address, port, timeoutMs), "EINVAL", {});
      return await answers(address, port, timeoutMs);
    },
    readNeighbourAnswer: (gateway, timeoutMs) =>
      askKernel(at.readNeighbourAnswer(gateway, timeoutMs), async () => {
        const endMs = performance.now() + timeoutMs;
        await askNeighbour(socket, gateway);
        for (;;) {
          const state = await readNeighbour(socket, gateway);
          if (state === "fixed") return undefined;
          if (state !== "asking" || performance.now() >= endMs) return state === "reachable";
          await delay(pollMs);
        }
      }),
  };
}

/** A host that refuses the connection, or resets it, is reached. */
function answers(address: string, port: number, timeoutMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: address, port });
    const end = (isAnswered: boolean): void => {
      clearTimeout(timer);
      socket.destroy();
      resolve(isAnswered);
    };
    const timer = setTimeout(() => {
      end(false);
    }, timeoutMs);
    socket.once("connect", () => {
      end(true);
    });
    socket.once("error", (error) => {
      end(isErrno(error, "ECONNREFUSED", "ECONNRESET"));
    });
  });
}
