// SPDX-License-Identifier: Apache-2.0
/**
 * createMapSession is one connection of a pod: the protocol 0.1 by which programs get the XSK maps of their devices (version 0.1 of
 * afxdp-plugins-for-kubernetes; DPDK's af_xdp driver with use_cni=1).
 *
 *     /connect,POD                        /host_ok, /host_nak or /error
 *     /version                            0.1
 *     /xsk_map_fd,NAME                    /fd_ack with the descriptor of the map, or /fd_nak
 *     /config_busy_poll,US,PACKETS        with the descriptor of a socket: /config_busy_poll_ack or /config_busy_poll_nak
 *     /fin                                /fin_ack
 *
 * The first request must be /connect. Anything else is answered with /nak. A program knows the name that the device has in the
 * pod, such as net1, which the plugin does not know. The name of another device of the pod is answered with the map of that device,
 * and any other name with the map of the device to which the socket belongs.
 */
import type { SeqpacketConnection, SeqpacketHandler, SeqpacketMessage } from "@switchyard/netlink";

/** Longest message. */
export const messageBytes = 64;

/** How a session ended, for the metric. */
export type SessionResult = "served" | "refused" | "failed" | "timeout";

export interface MapSessionOptions {
  /** Name of the device to which the socket belongs. */
  readonly device: string;
  /** Returns the names of the pod's devices; undefined if it may not use the socket. Rejects if that is not known. */
  readonly verify: (podName: string) => Promise<readonly string[] | undefined>;
  /** Opens the map of a device. Throws if there is none. */
  readonly openMap: (device: string) => { readonly fd: number } & Disposable;
  /** Configures busy polling of a socket of the pod, and reports whether the kernel accepted it. */
  readonly setBusyPoll: (fd: number, how: { readonly timeoutUs: number; readonly packets: number }) => boolean;
  /** A silent connection is closed after this time; 0 for never. */
  readonly idleTimeoutMs: number;
  /** Called once, at the end. `error` is set if `result` is "failed". */
  readonly ended: (result: SessionResult, error?: unknown) => void;
}

/** Time for the first request, even if silent connections are not closed later. */
const connectTimeoutMs = 30_000;

const version = "0.1";
const requests = {
  connect: "/connect",
  version: "/version",
  map: "/xsk_map_fd",
  busyPoll: "/config_busy_poll",
  end: "/fin",
} as const;

export function createMapSession(connection: SeqpacketConnection, options: MapSessionOptions): SeqpacketHandler {
  const { device: own, verify, openMap, setBusyPoll, idleTimeoutMs, ended } = options;
  let devices: readonly string[] | undefined; // of the pod, once it is verified
  let isVerifying = false;
  let isClosed = false;
  let result: SessionResult = "refused";
  let failure: unknown;
  let timer = startTimer(connectTimeoutMs);

  function startTimer(ms: number): NodeJS.Timeout | undefined {
    if (ms === 0) return undefined;
    return setTimeout(() => {
      if (devices === undefined) result = "timeout";
      connection.close();
    }, ms).unref();
  }

  function restartTimer(): void {
    clearTimeout(timer);
    timer = isClosed ? undefined : startTimer(devices === undefined ? connectTimeoutMs : idleTimeoutMs);
  }

  function answer(text: string, fd?: number): void {
    connection.send(Buffer.from(text), fd);
  }

  async function connect(podName: string): Promise<void> {
    isVerifying = true;
    try {
      devices = await verify(podName);
      if (devices !== undefined) {
        result = "served";
        answer("/host_ok");
        restartTimer(); // unless the answer could not be sent
        return;
      }
      answer("/host_nak");
    } catch (error) {
      result = "failed";
      failure = error;
      answer("/error");
    } finally {
      isVerifying = false;
    }
    connection.close();
  }

  function sendMap(name: string, held: readonly string[]): void {
    try {
      using map = openMap(held.includes(name) ? name : own);
      answer("/fd_ack", map.fd);
    } catch (error) {
      failure = error;
      answer("/fd_nak");
    }
  }

  function handle({ bytes, isTruncated, passed }: SeqpacketMessage): void {
    const [request = "", ...words] = readWords(bytes);
    const [word = ""] = words;
    if (devices === undefined) {
      // The protocol has one request at a time. A program that does not wait for the answer is not served.
      if (isVerifying || isTruncated || request !== requests.connect || words.length !== 1 || word === "") {
        answer(request === requests.connect ? "/host_nak" : "/nak");
        connection.close();
        return;
      }
      void connect(word);
    } else if (isTruncated) answer("/nak");
    else if (request === requests.version && words.length === 0) answer(version);
    else if (request === requests.map && words.length === 1) sendMap(word, devices);
    else if (request === requests.busyPoll) {
      const how = parseBusyPoll(words);
      const [fd] = passed;
      const isSet = how !== undefined && fd !== undefined && setBusyPoll(fd, how);
      answer(isSet ? "/config_busy_poll_ack" : "/config_busy_poll_nak");
    } else if (request === requests.end && words.length === 0) {
      answer("/fin_ack");
      connection.close();
    } else answer("/nak");
  }

  return {
    message(message) {
      handle(message);
      restartTimer();
    },
    closed() {
      isClosed = true;
      clearTimeout(timer);
      ended(result, failure);
    },
  };
}

/** Programs send NULs at the end or not. */
function readWords(bytes: Buffer): readonly string[] {
  const end = bytes.indexOf(0);
  return bytes.toString("utf8", 0, end < 0 ? bytes.length : end).split(",");
}

const maxBusyPollUs = 1_000_000;
const maxPackets = 65_535; // u16 in the kernel

function parseBusyPoll(words: readonly string[]): { readonly timeoutUs: number; readonly packets: number } | undefined {
  if (words.length !== 2 || !words.every((word) => /^\d{1,7}$/.test(word))) return undefined;
  const [timeoutUs = 0, packets = 0] = words.map(Number);
  return timeoutUs <= maxBusyPollUs && packets <= maxPackets ? { timeoutUs, packets } : undefined;
}
