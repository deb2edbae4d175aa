// SPDX-License-Identifier: Apache-2.0
/**
 * NetlinkSocket sends requests to the kernel (RFC 3549; Documentation/userspace-api/netlink/intro.rst of the kernel).
 * Usage: `await using socket = new NetlinkSocket({ protocol: protocols.route }); await listLinks(socket)`.
 *
 * Requests on one socket run one after the other. So a socket occupies at most one thread of libuv's pool, while the kernel
 * handles a request. Slow requests that must run in parallel need several sockets and as many threads in the pool.
 */
import { checked, errnoName, malformed, NetlinkError } from "./netlink-error.ts";
import { addressBytes, loadLibc, type Libc } from "./libc.ts";
import { inNetworkNamespace } from "./network-namespace.ts";
import { encodeMessage, messageFlags, parseMessages, parseAck, type Message, type Ack } from "./wire/message.ts";

/** A request to the kernel. */
export interface NetlinkRequest {
  /** The operation and its target for error messages: "set mtu 9000 on eth0". */
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
  /** Another network namespace than that of this process: "/run/netns/blue", "/proc/123/ns/net". */
  readonly netns?: string | undefined;
  /** Time limit of a request; it then rejects with ETIMEDOUT. Default: 120 s. An eswitch with many VFs can take a minute. */
  readonly timeoutMs?: number | undefined;
  readonly libc?: Libc | undefined;
}

const solNetlink = 270;
const socketOptions = { capAck: 10, extAck: 11, getStrictCheck: 12 };

// The length of messages is not known in advance: an attribute can have 64 KiB, and a PF with 256 VFs has 49 KiB of VF
// details (196 bytes each: igb, 6.12). Only the part of the buffer that messages use takes physical memory.
const receiveBytes = 1 << 20;

// Limit for lists that are interrupted by changes again and again, for example while VFs are created.
const maxDumps = 10;

export class NetlinkSocket implements AsyncDisposable {
  readonly #libc: Libc;
  readonly #fd: number;
  readonly #timeoutMs: number;
  readonly #buffer = Buffer.alloc(receiveBytes);
  readonly #sender = Buffer.alloc(addressBytes);
  #turn: Promise<void> = Promise.resolve();
  #sequence = 0;
  #isComplete = true;
  #disposed = false;

  /** Throws NetlinkError: EPERM, EPROTONOSUPPORT, ENOENT if the namespace does not exist. */
  constructor({ protocol, netns, timeoutMs = 120_000, libc = loadLibc() }: NetlinkSocketOptions) {
    this.#libc = libc;
    this.#timeoutMs = timeoutMs;
    this.#fd = inNetworkNamespace(libc, netns, () => checked("open netlink socket", libc.socket(protocol)));
    // All are optional. Kernels without them (GET_STRICT_CHK came with 4.20) send shorter errors or more links.
    for (const option of Object.values(socketOptions)) libc.setsockopt(this.#fd, solNetlink, option, 1);
  }

  /** Sends a request and resolves with the replies before its ack. Rejects with NetlinkError. */
  request(request: NetlinkRequest): Promise<readonly Message[]> {
    return this.#inTurn(
      request.tried,
      async () => (await this.#exchange(request, request.creates === true ? messageFlags.create : 0)).messages,
    );
  }

  /**
   * Sends a dump request and resolves with its items. Repeats a dump that was interrupted by a change, since it is
   * inconsistent. Rejects with NetlinkError; EINTR if each dump is interrupted.
   */
  dump(request: NetlinkRequest): Promise<readonly Message[]> {
    return this.#inTurn(request.tried, async () => {
      for (let dumps = 0; dumps < maxDumps; dumps++) {
        const { messages, interrupted } = await this.#exchange(request, messageFlags.dump);
        if (!interrupted) return messages;
      }
      throw new NetlinkError(request.tried, "EINTR", `interrupted by changes in each of ${maxDumps} attempts`);
    });
  }

  /** Waits for the running request, since it cannot be aborted. Waiting requests reject with ECANCELED. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#disposed) return this.#turn;
    this.#disposed = true;
    this.#turn = this.#turn.then(() => {
      this.#libc.close(this.#fd);
    });
    await this.#turn;
  }

  /** Runs `work` after all earlier requests. At the deadline it rejects at once, but the next request waits for the kernel. */
  #inTurn<Result>(tried: string, work: () => Promise<Result>): Promise<Result> {
    if (this.#disposed) return Promise.reject(new NetlinkError(tried, "ECANCELED"));
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    let expired = false;
    const deadline = setTimeout(() => {
      expired = true;
      reject(new NetlinkError(tried, "ETIMEDOUT", `no response within ${this.#timeoutMs} ms`));
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
    if (!this.#isComplete) await this.#discardRest();
    this.#sequence = (this.#sequence + 1) >>> 0;
    this.#isComplete = false;
    const flags = messageFlags.request | messageFlags.ack | kind;
    const message = encodeMessage({ type, flags, sequence: this.#sequence }, payload);
    checked(tried, await this.#libc.send(this.#fd, message));

    const messages: Message[] = [];
    let interrupted = false;
    for (;;) {
      for (const message of this.#parse(tried, await this.#receive(kind === messageFlags.dump))) {
        if (message.sequence !== this.#sequence) continue; // of an earlier request that failed before its ack
        interrupted ||= (message.flags & messageFlags.dumpInterrupted) !== 0;
        const ack = parseAck(message);
        if (ack === undefined) messages.push(message);
        else {
          this.#isComplete = true;
          throwIfRefused(tried, ack);
          return { messages, interrupted };
        }
      }
    }
  }

  /** Only a dump makes the kernel work while it is received. */
  #receive(isDump: boolean): number | Promise<number> {
    if (isDump) return this.#libc.recv(this.#fd, this.#buffer);
    return this.#libc.recvfrom(this.#fd, this.#buffer, this.#sender);
  }

  /** The kernel replies within send(), so there is always a message. EAGAIN means that the reply was lost. */
  #parse(tried: string, received: number): readonly Message[] {
    const length = checked(tried, received);
    if (length > receiveBytes) throw malformed(`datagram of ${length} bytes`);
    return parseMessages(Buffer.from(this.#buffer.subarray(0, length)));
  }

  /** Reads an abandoned dump to its end, since the kernel does not start a second one (EBUSY). */
  async #discardRest(): Promise<void> {
    let result: number;
    do result = await this.#libc.recv(this.#fd, this.#buffer);
    while (
      // ENOBUFS is reported once per loss. EAGAIN is the end. Any other error occurs again with the next request.
      result >= 0 ||
      errnoName(-result) === "ENOBUFS"
    );
  }
}

interface Exchange {
  readonly messages: readonly Message[];
  readonly interrupted: boolean;
}

function throwIfRefused(tried: string, { errno, words }: Ack): void {
  if (errno !== 0) throw new NetlinkError(tried, errnoName(errno), words);
}
