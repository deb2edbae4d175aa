// SPDX-License-Identifier: Apache-2.0
/**
 * borrowServers borrows a control plane from a lender (lender.ts), by one connection to its Unix socket. Both sides send
 * objects in JSON, one a line; the lender answers each request once, and says by itself that a process has ended.
 */
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { createInterface } from "node:readline";
import type { KeyPair } from "./certificates.ts";
import type { ControlPlaneServers } from "./control-plane.ts";
import type { ControlPlaneLayout } from "./control-plane-flags.ts";
import { TestingError } from "../testing-error.ts";

export type LoanCommand = "start" | "stop" | "kill" | "compact" | "backUp" | "restore";

/** The first request asks for a control plane. The directory of programs, if it is given, must be the lender's. */
export type LoanRequest =
  { readonly controllerManager: boolean; readonly binaries: string | undefined } | { readonly command: LoanCommand };

export type LoanAnswer =
  | { readonly lent: Loan }
  | { readonly refused: string }
  | { readonly done: true }
  | { readonly error: string }
  | { readonly failed: string };

export interface Loan {
  readonly binaries: string;
  readonly layout: ControlPlaneLayout;
  /** Signs the certificates of clients. */
  readonly authority: KeyPair;
}

export interface Borrowed extends Loan {
  readonly servers: ControlPlaneServers;
}

/** Returns undefined if the lender has other programs. Rejects with TestingError `start`. */
export async function borrowServers(
  socketPath: string,
  wanted: { readonly controllerManager: boolean; readonly binaries: string | undefined },
): Promise<Borrowed | undefined> {
  const socket = connect(socketPath);
  const failed = Promise.withResolvers<TestingError>();
  const ask = exchange(socket, (text) => {
    failed.resolve(new TestingError("start", text));
  });
  const answer = await ask(wanted);
  if (!("lent" in answer)) {
    socket.destroy();
    return undefined;
  }
  const command = async (name: LoanCommand): Promise<void> => {
    await ask({ command: name });
  };
  const servers: ControlPlaneServers = {
    layout: answer.lent.layout,
    failed: failed.promise,
    startApiServer: () => command("start"),
    stopApiServer: () => command("stop"),
    killApiServer: () => command("kill"),
    compactEtcd: () => command("compact"),
    async backUpEtcd() {
      await command("backUp");
      return () => command("restore");
    },
    async [Symbol.asyncDispose]() {
      if (socket.destroyed) return;
      socket.end();
      await once(socket, "close");
    },
  };
  return { ...answer.lent, servers };
}

/** Returns a function that sends a request and resolves with its answer, or rejects with the error that it is. */
function exchange(socket: Socket, onFailed: (text: string) => void): (request: LoanRequest) => Promise<LoanAnswer> {
  const waiting: PromiseWithResolvers<LoanAnswer>[] = [];
  createInterface({ input: socket }).on("line", (line) => {
    const answer = JSON.parse(line) as LoanAnswer;
    if ("failed" in answer) onFailed(answer.failed);
    else if ("error" in answer) waiting.shift()?.reject(new TestingError("start", answer.error));
    else waiting.shift()?.resolve(answer);
  });
  const lost = (error?: Error) => {
    for (const { reject } of waiting.splice(0)) {
      reject(new TestingError("start", "the lender of control planes has ended", { cause: error }));
    }
  };
  socket.on("error", lost);
  socket.on("close", () => {
    lost();
  });
  return (request) => {
    const answer = Promise.withResolvers<LoanAnswer>();
    waiting.push(answer);
    socket.write(`${JSON.stringify(request)}\n`);
    return answer.promise;
  };
}
