// SPDX-License-Identifier: Apache-2.0
/**
 * BusConnection is a connection to a D-Bus message bus: method calls and signals. It authenticates as the user of the process
 * (EXTERNAL). It serves one operation and is then closed: an idle daemon has no connection.
 */
import { once } from "node:events";
import { createConnection, type Socket } from "node:net";
import { isErrno } from "@switchyard/service";
import { encodeCall, takeMessage, type Message, type MethodCall } from "./message.ts";

/** The bus, or the called program, answered with an error. */
export class BusError extends Error {
  override readonly name = "BusError";
  /** "org.freedesktop.systemd1.NoSuchUnit". */
  readonly code: string;

  constructor(code: string, words: string) {
    super(words);
    this.code = code;
  }
}

export const busErrors = {
  /** The connection ended, or the peer does not speak D-Bus. */
  disconnected: "org.freedesktop.DBus.Error.Disconnected",
  timeout: "org.freedesktop.DBus.Error.Timeout",
} as const;

export interface BusOptions {
  /** Limit of the whole connection. All later calls fail. */
  readonly timeoutMs: number;
}

export class BusConnection implements Disposable {
  readonly #socket: Socket;
  readonly #calls = new Map<number, PendingCall>();
  readonly #signalListeners = new Set<(signal: Message) => void>();
  #failure: BusError | undefined;
  #received = Buffer.alloc(0);
  #lastSerial = 0;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on("error", (error) => {
      this.#fail(new BusError(busErrors.disconnected, error.message));
    });
    socket.once("close", () => {
      this.#fail(new BusError(busErrors.disconnected, "the bus closed the connection"));
    });
  }

  /** Rejects with the error of connect(2), or with BusError. */
  static async open(path: string, { timeoutMs }: BusOptions): Promise<BusConnection> {
    const socket = createConnection(path);
    const bus = new BusConnection(socket);
    const limit = setTimeout(() => {
      bus.#fail(new BusError(busErrors.timeout, `no answer within ${timeoutMs / 1000} s`));
    }, timeoutMs);
    socket.once("close", () => {
      clearTimeout(limit);
    });
    try {
      await once(socket, "connect");
      await authenticate(socket);
      socket.on("data", (chunk: Buffer) => {
        bus.#receive(chunk);
      });
      await bus.call({ ...busItself, member: "Hello" });
      return bus;
    } catch (error) {
      socket.destroy();
      throw isErrno(error) ? error : (bus.#failure ?? error);
    }
  }

  /** Returns the values of the answer. Rejects with BusError. */
  call(call: MethodCall): Promise<readonly unknown[]> {
    return new Promise((resolve, reject) => {
      if (this.#failure !== undefined) {
        reject(this.#failure);
        return;
      }
      const serial = ++this.#lastSerial;
      this.#calls.set(serial, { resolve, reject });
      this.#socket.write(encodeCall(serial, call));
    });
  }

  /** Calls `onSignal` for each signal that matches the rule, from the moment of the return. Rejects with BusError. */
  async listen(rule: string, onSignal: (signal: Message) => void): Promise<void> {
    this.#signalListeners.add(onSignal);
    await this.call({ ...busItself, member: "AddMatch", signature: "s", body: [rule] });
  }

  /** Resolves when `isOver` returns true after a message. Rejects with BusError when the connection ends. */
  whenOver(isOver: () => boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      const check = (): void => {
        if (isOver()) resolve();
        else if (this.#failure !== undefined) reject(this.#failure);
      };
      this.#signalListeners.add(check);
      check();
    });
  }

  [Symbol.dispose](): void {
    this.#socket.destroy();
  }

  #receive(chunk: Buffer): void {
    this.#received = Buffer.concat([this.#received, chunk]);
    try {
      for (let taken = takeMessage(this.#received); taken !== undefined; taken = takeMessage(this.#received)) {
        this.#received = Buffer.from(taken.rest);
        this.#handle(taken.message);
      }
    } catch (error) {
      this.#fail(new BusError(busErrors.disconnected, `malformed message: ${String(error)}`));
    }
  }

  #handle(message: Message): void {
    if (message.kind === "signal") for (const listener of this.#signalListeners) listener(message);
    const call = this.#calls.get(message.replySerial ?? 0);
    if (call === undefined) return;
    this.#calls.delete(message.replySerial ?? 0);
    const [words] = message.body;
    if (message.kind === "return") call.resolve(message.body);
    else call.reject(new BusError(message.errorName ?? "", typeof words === "string" ? words : ""));
  }

  #fail(failure: BusError): void {
    this.#failure ??= failure;
    this.#socket.destroy(failure); // also ends the waits of open()
    for (const { reject } of this.#calls.values()) reject(this.#failure);
    this.#calls.clear();
    for (const listener of this.#signalListeners) listener({ kind: "other", body: [] });
  }
}

interface PendingCall {
  readonly resolve: (values: readonly unknown[]) => void;
  readonly reject: (reason: BusError) => void;
}

const busItself = {
  destination: "org.freedesktop.DBus",
  path: "/org/freedesktop/DBus",
  interface: "org.freedesktop.DBus",
} as const;

/** The bus reads the user from the socket; the text must name the same one. */
async function authenticate(socket: Socket): Promise<void> {
  const uid = Buffer.from(`${process.getuid?.() ?? 0}`).toString("hex");
  socket.write(`\0AUTH EXTERNAL ${uid}\r\n`);
  let answer = "";
  // The bus sends nothing more before BEGIN.
  while (!answer.includes("\r\n") && answer.length < 1_000) {
    const [chunk] = (await Promise.race([once(socket, "data"), once(socket, "close").then(() => [""])])) as [unknown];
    if (chunk === "") throw new BusError(busErrors.disconnected, "the bus closed the connection");
    answer += String(chunk);
  }
  if (!answer.startsWith("OK ")) throw new BusError(busErrors.disconnected, `authentication failed: ${answer.trim()}`);
  socket.write("BEGIN\r\n");
}
