// SPDX-License-Identifier: Apache-2.0
/**
 * The host's side of the protocol with the agent: numbers the processes and hands each report to its own.
 * Usage: `const agent = new AgentConnection(socket); await agent.nextBoot(); agent.start(["true"], {}, false)`
 */
import { createInterface } from "node:readline";
import type { Duplex } from "node:stream";
import { createGuestProcess, type GuestProcess, type ProcessFeed } from "./guest-process.ts";
import { encodeLine, parseReport, type Request } from "./protocol.ts";
import { VmLabError } from "./vm-lab-error.ts";

/** Lasts as long as QEMU: the guest may be booted again under it. */
export class AgentConnection {
  readonly #stream: Duplex;
  readonly #processes = new Map<number, ProcessFeed>();
  #nextId = 1;
  #boot = Promise.withResolvers<string>();
  #lost: unknown;

  constructor(stream: Duplex) {
    this.#stream = stream;
    this.#boot.promise.catch(() => undefined); // told to each process too
    const lines = createInterface({ input: stream });
    lines.on("line", (line) => {
      this.#receive(line);
    });
    // Both pass on that the connection broke. QEMU's end says more: see lose().
    for (const emitter of [stream, lines]) emitter.on("error", () => undefined);
  }

  /** The boot id of the next boot whose agent answers. Ask before causing that boot. Rejects when the guest is lost. */
  nextBoot(): Promise<string> {
    return this.#boot.promise;
  }

  /** Starts a process; one that cannot be started ends with 127 and says so on stderr. */
  start(argv: readonly string[], env: Readonly<Record<string, string>>, input: boolean): GuestProcess {
    const id = this.#nextId++;
    const feed = createGuestProcess(id, (request) => this.#send(request));
    this.#processes.set(id, feed);
    void this.#send({ type: "start", id, argv, env, input });
    if (this.#lost !== undefined) this.#failProcesses(this.#lost);
    return feed.process;
  }

  /** The guest is gone: fails all that runs and all that will be started. The first reason is the one that counts. */
  lose(error: unknown): void {
    this.#lost ??= error;
    this.#stream.destroy();
    this.#boot.reject(error);
    this.#failProcesses(error);
  }

  #receive(line: string): void {
    const report = parseReport(line);
    if (report === undefined) return; // what a reset cut short
    if (report.type === "hello") {
      this.#failProcesses(new VmLabError("guest-rebooted", "the guest was booted again while this process ran"));
      this.#boot.resolve(report.bootId);
      this.#boot = Promise.withResolvers();
      this.#boot.promise.catch(() => undefined);
      return;
    }
    const feed = this.#processes.get(report.id);
    if (report.type === "output") {
      feed?.output(report);
    } else {
      this.#processes.delete(report.id);
      feed?.exit(report.code);
    }
  }

  #failProcesses(error: unknown): void {
    for (const feed of this.#processes.values()) feed.fail(error);
    this.#processes.clear();
  }

  /** Resolves once the bytes are written or cannot be: then lose() says why. */
  #send(request: Request): Promise<void> {
    return new Promise((resolve) => {
      if (this.#stream.destroyed) resolve();
      else
        this.#stream.write(encodeLine(request), () => {
          resolve();
        });
    });
  }
}
