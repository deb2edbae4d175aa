// SPDX-License-Identifier: Apache-2.0
/**
 * OvsSession is the daemon's one connection to the database of Open vSwitch. linux-ovs.ts loads this file only if the daemon
 * manages software bridges, because it loads the OVSDB client.
 */
import { defined } from "@switchyard/api";
import {
  isOvsdbError,
  OvsdbClient,
  type ClientState,
  type OvsdbError,
  type RowChange,
  type WireOperation,
} from "@switchyard/ovsdb";
import { configure, databaseName, interfaceProblem } from "@switchyard/ovsdb/vswitch";
import { HostError, type HostOperation } from "../../calls/host-error.ts";
import { isPfBridgeName, type OvsBridgeSettings, type OvsState } from "../../ports/ovs.ts";
import { bridge, isOwned, monitoredTables, offloadMarkKey, openVswitch, port, type BridgeRow } from "./ovs-rows.ts";
import { OvsLiveness } from "./ovs-liveness.ts";
import { readOvsState } from "./ovs-state.ts";
import {
  addPortOperations,
  adoptBridgeOperations,
  findInterface,
  hardwareOffloadOperations,
  removeBridgeOperations,
  removePortsOperations,
  setBridgeOperations,
  type OvsSource,
} from "./ovs-transactions.ts";

export interface OvsSessionOptions {
  /** Tried in turn (see parseEndpoint of the OVSDB client). */
  readonly endpoints: readonly string[];
  /** Called after each change of owned bridges, of hardware offload and of the connection. */
  readonly onChange: () => void;
  /** Limit for each transaction. */
  readonly timeoutMs: number;
  /** Time between two checks whether ovs-vswitchd runs. */
  readonly livenessMs: number;
}

/** How long a call waits for the first connection. A pass must not wait longer for a server that does not answer. */
const connectWaitMs = 3_000;

/**
 * A server that ends closes its socket, which is seen at once. Probes only find a server that hangs. Calls have limits of their own.
 * A probe every 20 s is a sixth of the CPU time of an idle daemon.
 */
const probeIntervalMs = 60_000;

/** A transaction that other programs disturb is built again this often. */
const maxAttempts = 5;

export class OvsSession implements AsyncDisposable {
  readonly #client: OvsdbClient;
  readonly #options: OvsSessionOptions;
  readonly #liveness: OvsLiveness;
  readonly #attempted = Promise.withResolvers<undefined>();
  /** Why the endpoints cannot be used, by endpoint. */
  readonly #errors = new Map<string, string>();
  /** UUIDs of the ports and interfaces of owned bridges. */
  #ownParts: ReadonlySet<string> = new Set();

  constructor(options: OvsSessionOptions) {
    this.#options = options;
    let wasConnected = false;
    let attempts = 0;
    this.#client = new OvsdbClient({
      endpoints: options.endpoints,
      database: databaseName,
      monitor: monitoredTables,
      probeIntervalMs,
      onState: (state) => {
        const { isConnected } = state;
        this.#remember(state);
        if (isConnected || ++attempts === options.endpoints.length) this.#attempted.resolve(undefined);
        if (isConnected !== wasConnected) options.onChange();
        wasConnected = isConnected;
      },
    });
    this.#client.cache.subscribe((changes) => {
      if (this.#concernUs(changes)) options.onChange();
    });
    const { cache } = this.#client;
    this.#liveness = new OvsLiveness({
      client: this.#client,
      isNeeded: () => [...cache.rows(bridge).values()].some(isOwned),
      intervalMs: options.livenessMs,
      answerMs: options.timeoutMs,
      onChange: options.onChange,
    });
  }

  /** Waits for the first attempt to connect, and reads the cache. Rejects with HostError ENOTCONN. */
  async read(at: HostOperation): Promise<OvsState> {
    await this.#connected(at);
    await this.#liveness.start();
    return { ...readOvsState(this.#client.cache), ...defined({ switchError: this.#liveness.error }) };
  }

  async setBridge(at: HostOperation, wanted: OvsBridgeSettings): Promise<void> {
    await this.#configure(at, () => setBridgeOperations(this.#sourceFor(at), wanted));
    this.#requireWorking(at, wanted.uplink.name);
  }

  async addPort(at: HostOperation, wanted: { readonly bridge: string; readonly port: string }): Promise<void> {
    await this.#configure(at, () => addPortOperations(this.#sourceFor(at), wanted));
    this.#requireWorking(at, wanted.port);
  }

  removeBridge(at: HostOperation, name: string): Promise<void> {
    return this.#configure(at, () => removeBridgeOperations(this.#sourceFor(at), name));
  }

  removePorts(at: HostOperation, name: string, ports: readonly string[]): Promise<void> {
    return this.#configure(at, () => removePortsOperations(this.#sourceFor(at), name, ports));
  }

  adoptBridge(at: HostOperation, wanted: OvsBridgeSettings): Promise<void> {
    return this.#transact(at, () => adoptBridgeOperations(this.#sourceFor(at), wanted));
  }

  setHardwareOffload(at: HostOperation, mark: string): Promise<void> {
    return this.#transact(at, () => hardwareOffloadOperations(this.#sourceFor(at), mark));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#liveness[Symbol.asyncDispose]();
    await this.#client[Symbol.asyncDispose]();
  }

  async #connected(at: HostOperation): Promise<void> {
    const waitMs = Math.min(this.#options.timeoutMs, connectWaitMs);
    const limit = AbortSignal.timeout(waitMs);
    // After a failed attempt, the client tries again by itself, and onChange is called when it succeeds.
    await Promise.race([this.#attempted.promise, this.#client.untilConnected(limit).catch(() => undefined)]);
    const { state } = this.#client;
    if (state.isConnected) return;
    const words = [...this.#errors.values()].sort().join("; ");
    const silent = `${this.#options.endpoints.join(", ")}: no answer for ${waitMs / 1000} s`;
    throw new HostError(at, "ENOTCONN", { words: words === "" ? silent : words, cause: state.error });
  }

  /** Keeps the last error of each endpoint: the errors of all of them stay the same while the client tries one by one. */
  #remember(state: ClientState): void {
    if (state.isConnected) this.#errors.clear();
    if (state.isConnected || state.error === undefined) return;
    const { message } = state.error;
    const { endpoints } = this.#options;
    const endpoint = endpoints.find((each) => message.includes(each));
    this.#errors.set(endpoint ?? "", endpoint === undefined ? `${endpoints.join(", ")}: ${message}` : message);
  }

  /** Carries out a transaction and waits until ovs-vswitchd has applied it. */
  async #configure(at: HostOperation, build: () => readonly WireOperation[]): Promise<void> {
    await this.#attempt(at, build, (operations, limit) => configure(this.#client, operations, limit));
  }

  async #transact(at: HostOperation, build: () => readonly WireOperation[]): Promise<void> {
    await this.#attempt(at, build, (operations, limit) => this.#client.transact(operations, limit));
  }

  async #attempt(
    at: HostOperation,
    build: () => readonly WireOperation[],
    run: (operations: readonly WireOperation[], limit: AbortSignal) => Promise<unknown>,
  ): Promise<void> {
    await this.#connected(at);
    for (let attempt = 1; ; attempt++) {
      try {
        const operations = build();
        if (operations.length > 0) await run(operations, AbortSignal.timeout(this.#options.timeoutMs));
        return;
      } catch (error) {
        if (!isOvsdbError(error)) throw error;
        if (!isOutdated(error) || attempt === maxAttempts) throw toHostError(at, error);
      }
    }
  }

  /** Throws HostError EIO unless ovs-vswitchd uses the interface. */
  #requireWorking(at: HostOperation, name: string): void {
    const found = findInterface(this.#client.cache, name);
    const problem = found === undefined ? "the database removed the port again" : interfaceProblem(found);
    if (problem !== undefined) throw new HostError(at, "EIO", { words: problem });
  }

  #sourceFor(at: HostOperation): OvsSource {
    return { cache: this.#client.cache, at };
  }

  #concernUs(changes: readonly RowChange[]): boolean {
    const concern = changes.some(({ table, uuid, before, after }) => {
      if (table === openVswitch) return offloadOf(before) !== offloadOf(after);
      if (table === bridge) return [before, after].some(isRelevantBridge);
      return this.#ownParts.has(uuid);
    });
    if (concern) this.#ownParts = this.#listOwnParts();
    return concern;
  }

  #listOwnParts(): ReadonlySet<string> {
    const { cache } = this.#client;
    const parts = new Set<string>();
    for (const row of cache.rows(bridge).values()) {
      if (!isOwned(row)) continue;
      for (const portId of row.ports) {
        parts.add(portId);
        for (const ifaceId of cache.rows(port).get(portId)?.interfaces ?? []) parts.add(ifaceId);
      }
    }
    return parts;
  }
}

/** A check of the transaction failed, because another program changed a row first. */
function isOutdated(error: OvsdbError): boolean {
  return error.failures.some((failure) => failure.error === "timed out");
}

function toHostError(at: HostOperation, error: OvsdbError): HostError {
  const codes: Readonly<Record<string, string>> = { connect: "ENOTCONN", disconnected: "ENOTCONN", closed: "ENOTCONN" };
  const code = error.code === "aborted" ? "ETIMEDOUT" : (codes[error.code] ?? "EPROTO");
  return new HostError(at, code, { words: error.message, cause: error });
}

type AnyRow = RowChange["before"];

function isRelevantBridge(row: AnyRow): boolean {
  if (row === undefined) return false;
  const { name, external_ids } = row as unknown as BridgeRow;
  return isPfBridgeName(name) || isOwned({ external_ids });
}

function offloadOf(row: AnyRow): string {
  const { other_config, external_ids } = (row ?? {}) as Partial<BridgeRow>;
  return JSON.stringify([other_config?.get("hw-offload"), external_ids?.get(offloadMarkKey)]);
}
