// SPDX-License-Identifier: Apache-2.0
/**
 * createFirmwareQueries asks ports of Mellanox cards for their firmware settings. A query forks a program and takes hundreds of
 * milliseconds, or never ends. So an answer is kept until the firmware is changed or the card appears again, and a pass waits
 * only a short time for it.
 */
import type { PciAddress } from "@switchyard/api";
import { HostError, type FirmwareSettings, type Host, type HostPrivilege } from "@switchyard/host";
import { endsWithin, type StepTiming } from "../../deadlines/with-deadline.ts";

export interface FirmwareQueries {
  /** Returns the answers that arrive in time. Never rejects because of a card. */
  ask(ports: readonly QueriedPort[]): Promise<ReadonlyMap<PciAddress, FirmwareAnswer>>;
  /** Drops the answers of all ports of a card; `card` is the PCI address without the function. */
  forget(card: string): void;
}

export interface QueriedPort {
  readonly pf: PciAddress;
  /** Reports whether the privilege level of the host is needed, too. Only a BlueField has one. */
  readonly needsPrivilege: (settings: FirmwareSettings) => boolean;
}

export type FirmwareAnswer = KnownFirmware | { readonly unavailable: string };

export interface KnownFirmware {
  readonly settings: FirmwareSettings;
  /** Absent if it is not needed; an error in one line if it could not be read. */
  readonly privilege?: HostPrivilege | { readonly unknown: string };
}

export interface FirmwareQueriesDeps {
  readonly timing: StepTiming;
  /** Starts another pass, because a late answer has arrived. */
  readonly wake: () => void;
}

/** Time that a pass waits for the answers of all cards. */
const waitMs = 3_000;

/** Time after which a failed query is repeated. */
const retryMs = 10 * 60_000;

export function createFirmwareQueries(host: Host, { timing, wake }: FirmwareQueriesDeps): FirmwareQueries {
  const queries = new Map<PciAddress, Query>();

  return {
    async ask(ports) {
      const running = await Promise.all(ports.map(start));
      const isInTime = await endsWithin(Promise.all(running.map(({ ended }) => ended)), waitMs, timing);
      if (!isInTime) for (const query of running) query.isAwaited ||= query.answer === undefined;
      return new Map(running.flatMap(({ pf, answer }) => (answer === undefined ? [] : [[pf, answer]])));
    },
    forget(card) {
      for (const pf of queries.keys()) if (pf.startsWith(`${card}.`)) queries.delete(pf);
    },
  };

  async function start(port: QueriedPort): Promise<Query> {
    const { pf } = port;
    // The function is another one after it was removed, or its driver was bound again.
    const incarnation = (await host.sriov.readBinding(pf).catch(() => undefined))?.incarnation ?? "";
    const known = queries.get(pf);
    if (known !== undefined && isUsable(known, incarnation)) return known;
    const query: Query = {
      pf,
      incarnation,
      startedMs: timing.nowMs(),
      answer: undefined,
      isAwaited: false,
      ended: Promise.resolve(),
    };
    queries.set(pf, query);
    query.ended = readPort(host, port).then((answer) => {
      query.answer = answer;
      if (query.isAwaited) wake();
    });
    return query;
  }

  function isUsable({ incarnation, answer, startedMs }: Query, present: string): boolean {
    if (answer === undefined) return true; // still running: no second program for the same port
    if (incarnation !== present) return false;
    return isComplete(answer) || timing.nowMs() - startedMs < retryMs;
  }
}

interface Query {
  readonly pf: PciAddress;
  readonly incarnation: string;
  readonly startedMs: number;
  /** Never rejects because of the host. */
  ended: Promise<void>;
  answer: FirmwareAnswer | undefined;
  /** A pass did not wait for the answer. */
  isAwaited: boolean;
}

function isComplete(answer: FirmwareAnswer): boolean {
  return "settings" in answer && typeof answer.privilege !== "object";
}

async function readPort(host: Host, { pf, needsPrivilege }: QueriedPort): Promise<FirmwareAnswer> {
  try {
    const settings = await host.firmware.readSettings(pf);
    return needsPrivilege(settings) ? { settings, privilege: await readPrivilege(host, pf) } : { settings };
  } catch (thrown) {
    if (!(thrown instanceof HostError)) throw thrown;
    return { unavailable: thrown.message };
  }
}

async function readPrivilege(host: Host, pf: PciAddress): Promise<Exclude<KnownFirmware["privilege"], undefined>> {
  try {
    return await host.firmware.readPrivilege(pf);
  } catch (thrown) {
    if (!(thrown instanceof HostError)) throw thrown;
    return { unknown: thrown.message };
  }
}
