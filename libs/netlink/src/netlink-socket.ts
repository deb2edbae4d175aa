// SPDX-License-Identifier: Apache-2.0
/**
 * A netlink socket for requests (RFC 3549; the kernel's Documentation/userspace-api/netlink/intro.rst).
 * Usage: `await using socket = new NetlinkSocket({ protocol: protocols.route }); await socket.request({ ... })`.
 *
 * Requests on one socket take turns, so a socket holds at most one thread of libuv's pool, for as long as the kernel works
 * on the request in hand and never while idle. Work that may take seconds at several places at once wants as many
 * sockets, and the pool as many threads.
 */
import { errnoName } from "./errno.ts";
import type { Libc } from "./libc.ts";
import { loadLibc } from "./native-libc.ts";
import { checked, malformed, NetlinkError } from "./netlink-error.ts";
import { inNetworkNamespace } from "./network-namespace.ts";
import {
  encodeMessage,
  messageFlags,
  parseMessages,
  parseVerdict,
  type Message,
  type Verdict,
} from "./wire/message.ts";

/** One question to the kernel. */
export interface NetlinkRequest {
  /** What is tried, on what, as its error will say: "set mtu 9000 on eth0". */
  readonly tried: string;
  /** RTM_*, or the id of a generic family. */
  readonly type: number;
  readonly payload: Buffer;
  /** Whether the request makes an object, which must not exist yet: EEXIST if it does. */
  readonly creates?: boolean;
}

export interface NetlinkSocketOptions {
  /** One of `protocols`. */
  readonly protocol: number;
  /** A network namespace other than this process's: "/run/netns/blue", "/proc/123/ns/net". */
  readonly netns?: string | undefined;
  /** A request without an answer by then rejects with ETIMEDOUT. An eswitch with many VFs can take a minute. */
  readonly timeoutMs?: number | undefined;
  readonly libc?: Libc | undefined;
}

const solNetlink = 270;
const socketOptions = { capAck: 10, extAck: 11, getStrictCheck: 12 };

// How long messages get cannot be known beforehand: each attribute can have 64 KiB, and a PF with 256 VFs has 49 KiB of VF
// details (196 bytes each: igb, 6.12). The memory is touched, and so real, only as far as messages reach.
const receiveBytes = 1 << 20;

// As many as a node's VFs can reasonably disturb a list of links in a row.
const maxDumps = 10;

export class NetlinkSocket implements AsyncDisposable {
  readonly #libc: Libc;
  readonly #fd: number;
  readonly #timeoutMs: number;
  readonly #buffer = Buffer.alloc(receiveBytes);
  #turn: Promise<void> = Promise.resolve();
  #sequence = 0;
  #answered = true;
  #disposed = false;

  /** Throws NetlinkError: EPERM, ENOENT for no such namespace, EPROTONOSUPPORT. */
  constructor({ protocol, netns, timeoutMs = 120_000, libc = loadLibc() }: NetlinkSocketOptions) {
    this.#libc = libc;
    this.#timeoutMs = timeoutMs;
    this.#fd = inNetworkNamespace(libc, netns, () => checked("open netlink socket", libc.socket(protocol)));
    // Kernels that lack one of these (GET_STRICT_CHK came with 4.20) give fewer words or more links, and do work.
    for (const option of Object.values(socketOptions)) libc.setsockopt(this.#fd, solNetlink, option, 1);
  }

  /** Sends a request and resolves with the answers before its ack. Rejects with NetlinkError. */
  request(request: NetlinkRequest): Promise<readonly Message[]> {
    return this.#inTurn(
      request.tried,
      async () => (await this.#exchange(request, request.creates === true ? messageFlags.create : 0)).messages,
    );
  }

  /**
   * Lists what the request asks for. A dump that a change interrupted is inconsistent, and is done again; EINTR when changes
   * never pause. Rejects with NetlinkError.
   */
  dump(request: NetlinkRequest): Promise<readonly Message[]> {
    return this.#inTurn(request.tried, async () => {
      for (let dumps = 0; dumps < maxDumps; dumps++) {
        const { messages, interrupted } = await this.#exchange(request, messageFlags.dump);
        if (!interrupted) return messages;
      }
      throw new NetlinkError(request.tried, "EINTR", `changed during each of ${maxDumps} dumps`);
    });
  }

  /** Waits for the request in hand, since the kernel cannot be told to stop; those that wait reject with ECANCELED. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#disposed) return this.#turn;
    this.#disposed = true;
    this.#turn = this.#turn.then(() => {
      this.#libc.close(this.#fd);
    });
    await this.#turn;
  }

  /** Runs `work` when all before it have ended. A deadline rejects at once, and yet the next turn waits for the kernel. */
  #inTurn<Result>(tried: string, work: () => Promise<Result>): Promise<Result> {
    if (this.#disposed) return Promise.reject(new NetlinkError(tried, "ECANCELED"));
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    let expired = false;
    const deadline = setTimeout(() => {
      expired = true;
      reject(new NetlinkError(tried, "ETIMEDOUT", `no answer in ${this.#timeoutMs} ms`));
    }, this.#timeoutMs);

    this.#turn = this.#turn.then(async () => {
      try {
        if (expired) return;
        if (this.#disposed) throw new NetlinkError(tried, "ECANCELED");
        resolve(await work());
      } catch (error) {
        reject(error instanceof Error ? error : new Error("netlink request failed", { cause: error }));
      } finally {
        clearTimeout(deadline);
      }
    });
    return promise;
  }

  async #exchange({ tried, type, payload }: NetlinkRequest, kind: number): Promise<Exchange> {
    if (!this.#answered) await this.#discardRest();
    this.#sequence = (this.#sequence + 1) >>> 0;
    this.#answered = false;
    const flags = messageFlags.request | messageFlags.ack | kind;
    const message = encodeMessage({ type, flags, sequence: this.#sequence }, payload);
    checked(tried, await this.#libc.send(this.#fd, message));

    const messages: Message[] = [];
    let interrupted = false;
    for (;;) {
      for (const answer of await this.#receive(tried)) {
        if (answer.sequence !== this.#sequence) continue; // left over from a request that failed half way
        interrupted ||= (answer.flags & messageFlags.dumpInterrupted) !== 0;
        const verdict = parseVerdict(answer);
        if (verdict === undefined) messages.push(answer);
        else {
          this.#answered = true;
          accept(tried, verdict);
          return { messages, interrupted };
        }
      }
    }
  }

  async #receive(tried: string): Promise<readonly Message[]> {
    // The kernel answers within send(), so there is always something to read: EAGAIN would be an answer lost.
    const length = checked(tried, await this.#libc.recv(this.#fd, this.#buffer));
    if (length > receiveBytes) throw malformed(`datagram of ${length} bytes`);
    return parseMessages(Buffer.from(this.#buffer.subarray(0, length)));
  }

  /** A dump that was given up half way must be read to its end: the kernel starts no second one (EBUSY). */
  async #discardRest(): Promise<void> {
    let result: number;
    do result = await this.#libc.recv(this.#fd, this.#buffer);
    while (
      // ENOBUFS is told once per loss. EAGAIN is the end, and any other error comes again with the request that follows.
      result >= 0 ||
      errnoName(-result) === "ENOBUFS"
    );
  }
}

interface Exchange {
  readonly messages: readonly Message[];
  readonly interrupted: boolean;
}

function accept(tried: string, { errno, words }: Verdict): void {
  if (errno !== 0) throw new NetlinkError(tried, errnoName(errno), words);
}
