// SPDX-License-Identifier: Apache-2.0
/**
 * AgentConnection is the host's side of the protocol with the agent. It numbers the processes and routes each report to its
 * process.
 */
import { createInterface } from "node:readline";
import type { Duplex } from "node:stream";
import { createGuestProcess, type GuestProcess, type ProcessFeed } from "./guest-process.ts";
import { encodeLine, parseReport, type Request } from "../agent/protocol.ts";
import { VmLabError } from "../vm-lab-error.ts";

/** Lives as long as QEMU, also if the guest reboots. */
export class AgentConnection {
  readonly #stream: Duplex;
  readonly #processes = new Map<number, ProcessFeed>();
  #nextId = 1;
  #boot = Promise.withResolvers<string>();
  #lost: unknown;

  constructor(stream: Duplex) {
    this.#stream = stream;
    this.#boot.promise.catch(() => undefined); // each process gets this error, too
    const lines = createInterface({ input: stream });
    lines.on("line", (line) => {
      this.#receive(line);
    });
    // Both report a broken connection. The exit of QEMU gives a better error: see lose().
    for (const emitter of [stream, lines]) emitter.on("error", () => undefined);
  }

  /** Resolves with the boot id of the next boot whose agent answers. Call it before the boot starts. Rejects when the guest is lost. */
  nextBoot(): Promise<string> {
    return this.#boot.promise;
  }

  /** Starts a process. A process that cannot be started exits with 127 and a message on stderr. */
  start(argv: readonly string[], env: Readonly<Record<string, string>>, input: boolean): GuestProcess {
    const id = this.#nextId++;
    const feed = createGuestProcess(id, (request) => this.#send(request));
    this.#processes.set(id, feed);
    void this.#send({ type: "start", id, argv, env, input });
    if (this.#lost !== undefined) this.#failProcesses(this.#lost);
    return feed.process;
  }

  /** Fails all running and later processes, because the guest is lost. The first error is kept. */
  lose(error: unknown): void {
    this.#lost ??= error;
    this.#stream.destroy();
    this.#boot.reject(error);
    this.#failProcesses(error);
  }

  #receive(line: string): void {
    const report = parseReport(line);
    if (report === undefined) return; // a line that a reset cut off
    if (report.type === "hello") {
      this.#failProcesses(new VmLabError("guest-rebooted", "the guest rebooted while this process was running"));
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

  /** Resolves when the bytes are written, or cannot be written; lose() has the error then. */
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
