// SPDX-License-Identifier: Apache-2.0
/**
 * Connection is one JSON-RPC session with an OVSDB server (RFC 7047, 4): requests in any number at a time, notifications,
 * the server's echo requests, and probes of a silent server.
 * Usage: `await using connection = await connect("unix:/run/openvswitch/db.sock"); await connection.request("list_dbs", []);`
 */
import { connect as connectSocket, type Socket } from "node:net";
import { isOvsdbError, OvsdbError } from "../ovsdb-error.ts";
import { JsonStream } from "../wire/json-stream.ts";

export interface ConnectionOptions {
  /** Gives up the attempt to connect. An open connection is closed by disposing of it. */
  readonly signal?: AbortSignal | undefined;
  /** How long the server may send nothing before an echo request, and again before it counts as dead. Default: 5,000. 0: never. */
  readonly probeIntervalMs?: number | undefined;
  /** Limit of a message from the server. Default: 32 MiB, ten thousand interfaces with all columns. */
  readonly maxMessageBytes?: number | undefined;
  /** Receives the server's notifications, such as "update3". */
  readonly onNotification?: ((method: string, parameters: readonly unknown[]) => void) | undefined;
}

interface Pending {
  readonly method: string;
  resolve(result: unknown): void;
  reject(error: OvsdbError): void;
}

const defaults = { probeIntervalMs: 5_000, maxMessageBytes: 32 * 1024 * 1024 };

/** Connects to the server at `endpoint` (see parseEndpoint). Rejects with OvsdbError `endpoint`, `connect` or `aborted`. */
export async function connect(endpoint: string, options: ConnectionOptions = {}): Promise<Connection> {
  const { signal } = options;
  const socket = connectSocket(parseEndpoint(endpoint));
  const abort = (): void => {
    socket.destroy(new OvsdbError("aborted", `connecting to ${endpoint} was aborted`, { cause: signal?.reason }));
  };
  if (signal?.aborted === true) abort();
  signal?.addEventListener("abort", abort, { once: true });
  try {
    await new Promise<void>((resolve, reject) => {
      socket.once("connect", resolve);
      socket.once("error", reject);
    });
  } catch (cause) {
    if (isOvsdbError(cause)) throw cause;
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new OvsdbError("connect", `cannot connect to ${endpoint}: ${why}`, { cause });
  } finally {
    signal?.removeEventListener("abort", abort);
  }
  return new Connection(socket, endpoint, options);
}

export class Connection implements AsyncDisposable {
  /** Resolves with the reason when the connection is gone. Never rejects. */
  readonly closed: Promise<OvsdbError>;
  readonly #socket: Socket;
  readonly #endpoint: string;
  readonly #stream: JsonStream;
  readonly #onNotification: ConnectionOptions["onNotification"];
  readonly #pending = new Map<number, Pending>();
  #nextId = 0;
  #closeReason: OvsdbError | undefined;

  /** @param socket A connected socket, which then belongs to this object. */
  constructor(socket: Socket, endpoint: string, options: ConnectionOptions) {
    const { probeIntervalMs = defaults.probeIntervalMs, maxMessageBytes = defaults.maxMessageBytes } = options;
    this.#socket = socket;
    this.#endpoint = endpoint;
    this.#stream = new JsonStream(maxMessageBytes);
    this.#onNotification = options.onNotification;
    const { promise, resolve } = Promise.withResolvers<OvsdbError>();
    this.closed = promise;
    socket.setNoDelay(true);
    socket.on("data", (chunk: Buffer) => {
      this.#receive(chunk);
    });
    socket.on("error", (cause) => {
      this.#fail(new OvsdbError("disconnected", `the connection to ${endpoint} failed: ${cause.message}`, { cause }));
    });
    socket.on("close", () => {
      this.#fail(new OvsdbError("disconnected", `${endpoint} closed the connection`));
      for (const pending of this.#pending.values()) pending.reject(this.#lost(pending.method));
      this.#pending.clear();
      if (this.#closeReason !== undefined) resolve(this.#closeReason);
    });
    if (probeIntervalMs > 0) this.#probe(probeIntervalMs);
  }

  /**
   * Sends a request and resolves with its result. Rejects with OvsdbError `refused` if the server answers with an error,
   * `disconnected` if the connection is lost before the answer, and `aborted`. The server may have carried out a request
   * whose answer is lost or no longer awaited.
   */
  async request(method: string, parameters: readonly unknown[], signal?: AbortSignal): Promise<unknown> {
    if (this.#closeReason !== undefined) throw this.#lost(method);
    if (signal?.aborted === true) throw new OvsdbError("aborted", `${method} was aborted before it was sent`);
    const id = this.#nextId++;
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    const abort = (): void => {
      this.#pending.delete(id);
      if (method === "transact") this.#send({ id: null, method: "cancel", params: [id] });
      reject(new OvsdbError("aborted", `${method} was aborted before ${this.#endpoint} answered`));
    };
    this.#pending.set(id, { method, resolve, reject });
    signal?.addEventListener("abort", abort, { once: true });
    try {
      this.#send({ id, method, params: parameters });
      return await promise;
    } finally {
      signal?.removeEventListener("abort", abort);
    }
  }

  /** Closes the connection. Requests without an answer are rejected with OvsdbError `disconnected`. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#fail(new OvsdbError("closed", `the connection to ${this.#endpoint} was closed`));
    await this.closed;
  }

  #send(message: unknown): void {
    if (this.#closeReason === undefined) this.#socket.write(JSON.stringify(message));
  }

  #receive(chunk: Buffer): void {
    try {
      for (const message of this.#stream.push(chunk)) this.#handle(message);
    } catch (cause) {
      // The bytes are the server's. Whatever they cause concerns this connection only: thrown here, it would end the process.
      const unreadable = `${this.#endpoint} sent a message that cannot be processed`;
      this.#fail(isOvsdbError(cause) ? cause : new OvsdbError("protocol", unreadable, { cause }));
    }
  }

  #handle(message: unknown): void {
    const { id, method, params, result, error } = message as Readonly<Record<string, unknown>>;
    if (typeof method === "string") {
      const parameters = Array.isArray(params) ? params : [];
      if (id === null || id === undefined) this.#onNotification?.(method, parameters);
      else if (method === "echo") this.#send({ id, result: parameters, error: null });
      else this.#send({ id, result: null, error: "unknown method" });
      return;
    }
    const pending = typeof id === "number" ? this.#pending.get(id) : undefined;
    if (typeof id !== "number" || pending === undefined) return; // the caller does not wait any more
    this.#pending.delete(id);
    if (error === null || error === undefined) pending.resolve(result);
    else pending.reject(refusal(pending.method, error));
  }

  /** Sends an echo request when the server has been silent, and closes the connection when it does not answer. */
  #probe(intervalMs: number): void {
    let isWaiting = false;
    this.#socket.setTimeout(intervalMs);
    this.#socket.on("timeout", () => {
      if (isWaiting) {
        this.#fail(new OvsdbError("disconnected", `${this.#endpoint} did not answer a probe for ${intervalMs} ms`));
        return;
      }
      isWaiting = true;
      const answered = (): void => {
        isWaiting = false;
      };
      this.request("echo", []).then(answered, answered);
    });
  }

  #fail(reason: OvsdbError): void {
    if (this.#closeReason !== undefined) return;
    this.#closeReason = reason;
    this.#socket.destroy();
  }

  #lost(method: string): OvsdbError {
    const message = `${method} has no answer: ${this.#closeReason?.message ?? "the connection is gone"}`;
    return new OvsdbError("disconnected", message, { cause: this.#closeReason });
  }
}

/** Longest text of a server in a message. */
const maxTextLength = 500;

/** An error is a text, or an object with `error`, `details` and `syntax` (RFC 7047, 3.1). */
function refusal(method: string, error: unknown): OvsdbError {
  const { error: text, details }: { error?: unknown; details?: unknown } =
    typeof error === "object" && error !== null ? error : { error };
  const what = typeof text === "string" ? text.slice(0, maxTextLength) : "the server refused it without a text";
  const why = typeof details === "string" ? ` (${details.slice(0, maxTextLength)})` : "";
  return new OvsdbError("refused", `${method}: ${what}${why}`, { error: what });
}

/**
 * Endpoints of OVSDB servers, in the notation of ovs-vsctl's `--db`.
 * What net.connect() takes.
 */
export type Endpoint = { readonly path: string } | { readonly host: string; readonly port: number };

/** The port that IANA assigned to OVSDB. */
const defaultPort = 6640;

/**
 * Reads "unix:/run/openvswitch/db.sock", "unix:///run/openvswitch/db.sock", "/run/openvswitch/db.sock", "tcp:HOST" or
 * "tcp:HOST:PORT", with an IPv6 address in brackets. Throws OvsdbError `endpoint`.
 */
export function parseEndpoint(text: string): Endpoint {
  const path = /^(?:unix:(?:\/\/)?)?(\/[^\0]+)$/.exec(text)?.[1];
  if (path !== undefined) return { path };
  const [, bracketed, plain, port = `${defaultPort}`] =
    /^tcp:(?:\[([^\]]+)\]|([^:[\]]+))(?::(\d{1,5}))?$/.exec(text) ?? [];
  const host = bracketed ?? plain;
  if (host !== undefined && Number(port) >= 1 && Number(port) <= 65535) return { host, port: Number(port) };
  throw new OvsdbError("endpoint", `"${text}" is not an OVSDB endpoint: expected unix:/PATH or tcp:HOST:PORT`);
}
