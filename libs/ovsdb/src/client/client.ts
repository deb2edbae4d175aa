// SPDX-License-Identifier: Apache-2.0
/**
 * OvsdbClient is a lasting connection to one database: it connects again with back-off whenever the connection is lost,
 * and its monitors continue. While there is no connection, caches keep their last content, and `state` says since when.
 * Usage: `await using client = new OvsdbClient({ endpoints: ["unix:/run/openvswitch/db.sock"], database: "Open_vSwitch" })`
 */
import { isOvsdbError, OvsdbError } from "../ovsdb-error.ts";
import type { Table } from "../wire/column.ts";
import type { WireOperation, WireResult } from "../wire/notation.ts";
import { connect, type Connection } from "./connection.ts";
import { Monitor } from "./monitor.ts";
import { checkSchema } from "./schema.ts";
import type { TableCache } from "./table-cache.ts";
import { transact } from "./transact.ts";

export interface OvsdbClientOptions {
  /** Tried in turn until one answers (see parseEndpoint). */
  readonly endpoints: readonly string[];
  /** Such as "Open_vSwitch". */
  readonly database: string;
  /** The tables to monitor from the first connection on. */
  readonly monitor?: readonly Table[];
  /** See ConnectionOptions. */
  readonly probeIntervalMs?: number;
  readonly maxMessageBytes?: number;
  /** Limit of connecting and filling the caches, after which the attempt counts as failed. Default: 10,000. */
  readonly connectTimeoutMs?: number;
  /** The first and the longest pause between attempts to connect; it doubles from one to the next. Default: 100 and 8,000. */
  readonly backoff?: { readonly firstMs: number; readonly longestMs: number };
  /** Called with each change of the state, and with each attempt to connect that fails. */
  readonly onState?: (state: ClientState) => void;
}

/** Connected means that the caches are filled and follow the database. */
export type ClientState =
  | { readonly isConnected: true; readonly endpoint: string }
  | {
      readonly isConnected: false;
      /** Milliseconds since the epoch. */
      readonly sinceMs: number;
      /** Why there is no connection; undefined before the first attempt has ended. */
      readonly error: OvsdbError | undefined;
    };

const defaults = { connectTimeoutMs: 10_000, backoff: { firstMs: 100, longestMs: 8_000 } };

export class OvsdbClient implements AsyncDisposable {
  /** The monitored tables. Throws TypeError for tables that are not in the option `monitor`. */
  readonly cache: TableCache;
  readonly #options: OvsdbClientOptions;
  readonly #monitor: Monitor;
  readonly #end = new AbortController();
  readonly #running: Promise<void>;
  #state: ClientState = { isConnected: false, sinceMs: Date.now(), error: undefined };
  #connection: Connection | undefined;
  #connected = Promise.withResolvers<undefined>();
  #endPause: (() => void) | undefined;

  constructor(options: OvsdbClientOptions) {
    this.#options = options;
    this.#monitor = new Monitor("switchyard", options.database, options.monitor ?? []);
    this.cache = this.#monitor.cache;
    this.#connected.promise.catch(() => undefined); // rejected at the end, when nobody may be waiting
    this.#running = this.#run();
  }

  get state(): ClientState {
    return this.#state;
  }

  /** Resolves once the client is connected. Rejects with OvsdbError `aborted`, or `closed` if the client ends before. */
  async untilConnected(signal?: AbortSignal): Promise<void> {
    if (signal === undefined) return this.#connected.promise;
    const { promise, reject } = Promise.withResolvers<never>();
    const abort = (): void => {
      const { state } = this;
      const why = state.isConnected || state.error === undefined ? "" : `: ${state.error.message}`;
      reject(new OvsdbError("aborted", `waiting for a connection was aborted${why}`));
    };
    if (signal.aborted) abort();
    signal.addEventListener("abort", abort, { once: true });
    try {
      await Promise.race([this.#connected.promise, promise]);
    } finally {
      signal.removeEventListener("abort", abort);
    }
  }

  /**
   * Carries out all operations or none. Rejects with OvsdbError `transaction` if one fails, and with `disconnected` at once
   * if there is no connection. A transaction during which the connection is lost may have been committed.
   */
  async transact(operations: readonly WireOperation[], signal?: AbortSignal): Promise<readonly WireResult[]> {
    const connection = this.#connection;
    if (connection === undefined || !this.#state.isConnected) throw this.#notConnected();
    return transact(connection, this.#options.database, operations, signal);
  }

  /** Ends the client and its connection. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#end.abort();
    this.#endPause?.();
    await this.#connection?.[Symbol.asyncDispose]();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { firstMs, longestMs } = this.#options.backoff ?? defaults.backoff;
    let pauseMs = firstMs;
    for (let attempt = 0; !this.#isEnding(); attempt++) {
      const endpoint = this.#options.endpoints[attempt % this.#options.endpoints.length] ?? "";
      let wasConnected = false;
      try {
        await using connection = await this.#connect(endpoint);
        if (this.#isEnding()) break;
        wasConnected = true;
        this.#connection = connection;
        this.#setState({ isConnected: true, endpoint });
        this.#connected.resolve(undefined);
        this.#lose(await connection.closed);
      } catch (error) {
        if (!isOvsdbError(error)) throw error;
        this.#lose(error);
      }
      pauseMs = wasConnected ? firstMs : Math.min(pauseMs * 2, longestMs);
      await this.#pause(pauseMs * (0.5 + Math.random() / 2));
    }
    this.#connected.reject(new OvsdbError("closed", "the client was closed"));
  }

  #isEnding(): boolean {
    return this.#end.signal.aborted;
  }

  /** A connection whose schema is checked and whose monitor has filled the cache. */
  async #connect(endpoint: string): Promise<Connection> {
    const { connectTimeoutMs = defaults.connectTimeoutMs, database, monitor = [] } = this.#options;
    const { probeIntervalMs, maxMessageBytes } = this.#options;
    await using stack = new AsyncDisposableStack();
    const limit = AbortSignal.any([this.#end.signal, AbortSignal.timeout(connectTimeoutMs)]);
    const connection = stack.use(
      await connect(endpoint, {
        signal: limit,
        probeIntervalMs,
        maxMessageBytes,
        onNotification: (method, parameters) => void this.#monitor.receive(method, parameters),
      }),
    );
    const schema = await connection.request("get_schema", [database], limit);
    const missing = checkSchema(schema, monitor);
    if (monitor.length > 0) await this.#monitor.start(connection, missing, limit);
    stack.move();
    return connection;
  }

  #lose(error: OvsdbError): void {
    this.#connection = undefined;
    if (this.#state.isConnected) {
      this.#connected = Promise.withResolvers<undefined>();
      this.#connected.promise.catch(() => undefined);
    }
    const sinceMs = this.#state.isConnected ? Date.now() : this.#state.sinceMs;
    this.#setState({ isConnected: false, sinceMs, error });
  }

  #setState(state: ClientState): void {
    this.#state = state;
    this.#options.onState?.(state);
  }

  #notConnected(): OvsdbError {
    const cause = this.#state.isConnected ? undefined : this.#state.error;
    const why = cause === undefined ? "no connection yet" : cause.message;
    return new OvsdbError("disconnected", `transact was not sent: ${why}`, { cause });
  }

  async #pause(ms: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<undefined>();
    this.#endPause = () => {
      resolve(undefined);
    };
    const timer = setTimeout(this.#endPause, ms);
    if (this.#end.signal.aborted) resolve(undefined);
    await promise;
    clearTimeout(timer);
  }
}
