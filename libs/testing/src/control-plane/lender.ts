// SPDX-License-Identifier: Apache-2.0
/**
 * lendControlPlanes keeps control planes running and lends them, one after the other, to the files of a test run, because a
 * start takes seconds. A connection to its socket is a loan: it ends with the connection, also if the borrower is killed. What
 * the borrower left is removed then, by bringing etcd back to the data of a new cluster; the controller manager starts again,
 * because it remembers objects.
 * Usage: `await using lender = await lendControlPlanes("/tmp/run/lender.sock")`
 */
import { mkdtemp, rm, truncate } from "node:fs/promises";
import { createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import type { ControlPlaneFiles } from "./control-plane-files.ts";
import { controlPlaneFiles, etcdUrl, serverUrl } from "./control-plane-flags.ts";
import { isSameData, readEtcd, resetEtcd, type EtcdData } from "./etcd.ts";
import type { LocalServers } from "./local-servers.ts";
import type { Loan, LoanAnswer, LoanCommand, LoanRequest } from "./loans.ts";
import { readJson } from "./server-requests.ts";
import { startServers } from "./start-servers.ts";
import { eventually } from "../eventually.ts";
import { binariesFor, ensureBinaries } from "../programs/ensure-binaries.ts";

/** How long nothing is written after the start of a cluster. */
const quietMs = 1_000;
/** The API server looks each second which ValidatingAdmissionPolicies there are. */
const policiesMs = 1_100;

/** Disposing of it ends all control planes. */
export async function lendControlPlanes(socketPath: string): Promise<AsyncDisposable> {
  const binaries = await ensureBinaries({ names: binariesFor({ controllerManager: true }) });
  const free: Record<"true" | "false", Promise<Lendable>[]> = { true: [], false: [] };
  const all = new Set<Promise<Lendable>>();
  const sockets = new Set<Socket>();
  let isEnding = false;

  const start = (controllerManager: boolean): Promise<Lendable> => {
    const started = startLendable(binaries, controllerManager);
    all.add(started);
    return started;
  };

  /** One that is free or will be free soon, or else a new one. One that could not be cleaned is ended. */
  async function take(controllerManager: boolean): Promise<Lendable> {
    for (;;) {
      const next = free[`${controllerManager}`].shift();
      if (next === undefined) return start(controllerManager);
      const usable = await next.catch(() => undefined);
      if (usable === undefined) continue;
      if (!usable.servers.hasFailed()) return usable;
      await usable[Symbol.asyncDispose]();
    }
  }

  async function lend(socket: Socket): Promise<void> {
    sockets.add(socket);
    const answer = (message: LoanAnswer) => {
      socket.write(`${JSON.stringify(message)}\n`);
    };
    let lendable: Lendable | undefined;
    let restore: (() => Promise<void>) | undefined;
    const closed = new Promise<void>((resolve) => {
      socket.once("close", () => {
        resolve();
      });
    });
    socket.on("error", () => undefined); // "close" follows
    const commands: Readonly<Record<LoanCommand, (servers: LocalServers) => Promise<void>>> = {
      start: (servers) => servers.startApiServer(),
      stop: (servers) => servers.stopApiServer(),
      kill: (servers) => servers.killApiServer(),
      compact: (servers) => servers.compactEtcd(),
      backUp: async (servers) => {
        restore = await servers.backUpEtcd();
      },
      restore: async () => restore?.(),
    };
    for await (const line of createInterface({ input: socket })) {
      try {
        const asked = JSON.parse(line) as LoanRequest;
        if ("command" in asked) {
          if (lendable === undefined) throw new Error("nothing was lent");
          await commands[asked.command](lendable.servers);
          answer({ done: true });
        } else if (asked.binaries !== undefined && asked.binaries !== binaries) {
          answer({ refused: `has the programs of ${binaries}` });
        } else {
          lendable = await take(asked.controllerManager);
          void lendable.servers.failed.then((error) => {
            answer({ failed: error.message });
          });
          answer({ lent: loanOf(binaries, lendable) });
        }
      } catch (error) {
        answer({ error: error instanceof Error ? error.message : String(error) });
      }
    }
    await closed;
    sockets.delete(socket);
    if (lendable === undefined || isEnding) return;
    const { controllerManager } = lendable.servers.layout;
    // A data directory that was replaced has no known beginning.
    if (restore !== undefined) await lendable[Symbol.asyncDispose]();
    else {
      const cleaned = clean(lendable);
      cleaned.catch(() => lendable[Symbol.asyncDispose]());
      free[`${controllerManager}`].push(cleaned);
    }
  }

  const server = createServer((socket) => void lend(socket));
  await listen(server, socketPath);
  return {
    async [Symbol.asyncDispose]() {
      isEnding = true;
      server.close();
      for (const socket of sockets) socket.destroy();
      // Cleaning starts processes again, so it ends before they are killed.
      await Promise.allSettled([...free.true, ...free.false]);
      await Promise.all(
        [...all].map(async (started) => (await started.catch(() => undefined))?.[Symbol.asyncDispose]()),
      );
    },
  };
}

interface Lendable extends AsyncDisposable {
  readonly servers: LocalServers;
  readonly files: ControlPlaneFiles;
  /** The data of a new cluster. */
  readonly data: EtcdData;
  /** What `/apis` says in a new cluster. */
  readonly apis: string;
}

async function startLendable(binaries: string, controllerManager: boolean): Promise<Lendable> {
  const dataDir = await mkdtemp(join(tmpdir(), "switchyard-control-plane-"));
  const { servers, files } = await startServers(binaries, { dataDir, controllerManager, auditLog: true });
  const data = await settledData(etcdUrl(servers.layout));
  const apis = JSON.stringify(await readJson(`${serverUrl(servers.layout)}/apis`, files.admin));
  return {
    servers,
    files,
    data,
    apis,
    async [Symbol.asyncDispose]() {
      await servers[Symbol.asyncDispose]();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

/** The data after API server and controllers have written what they write in a new cluster. */
async function settledData(url: string): Promise<EtcdData> {
  for (let data = await readEtcd(url); ;) {
    await sleep(quietMs);
    const next = await readEtcd(url);
    if (isSameData(data, next)) return next;
    data = next;
  }
}

async function clean(used: Lendable): Promise<Lendable> {
  const { servers, files, apis } = used;
  await servers.killControllers();
  if (!servers.isApiServerRunning()) await servers.startApiServer();
  const { deleted, data } = await resetEtcd(etcdUrl(servers.layout), used.data);
  const url = `${serverUrl(servers.layout)}/apis`;
  const isClean = async () => JSON.stringify(await readJson(url, files.admin)) === apis;
  await eventually("the kinds of deleted definitions are not served", isClean, { withinMs: 20_000 });
  if (deleted.some((key) => key.startsWith("/registry/validatingadmissionpolic"))) await sleep(policiesMs);
  await truncate(join(servers.layout.dataDir, controlPlaneFiles.auditLog));
  await servers.startControllers();
  return { ...used, data };
}

function loanOf(binaries: string, { servers, files }: Lendable): Loan {
  return { binaries, layout: servers.layout, authority: files.authority };
}

function listen(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(path, resolve);
  });
}
