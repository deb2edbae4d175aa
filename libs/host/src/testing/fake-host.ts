// SPDX-License-Identifier: Apache-2.0
/**
 * createFakeHost wraps the ports of the fake kernel: it injects faults, records writes, and converts a Refusal to a HostError.
 * Usage: `createFakeHost(ports, { clock, faults, writes })`.
 */
import { isWatch, isWrite, operationOf, wrapPorts, type PortCall } from "../calls/wrap-ports.ts";
import { HostError } from "../calls/host-error.ts";
import type { Host } from "../ports/host.ts";
import type { KernelClock } from "./clock.ts";
import { Refusal, type Faults } from "./faults.ts";

/** A call that changes the host, also if it fails. */
export interface FakeWrite extends PortCall {
  readonly startedMs: number;
  /** Absent while the call is running. */
  readonly endedMs?: number;
  /** Name of the errno if the call failed. */
  readonly code?: string;
}

export interface FakeHostDeps {
  readonly clock: KernelClock;
  readonly faults: Faults;
  /** Receives the writes in the order of their start. */
  readonly writes: FakeWrite[];
}

export function createFakeHost(ports: Host, { clock, faults, writes }: FakeHostDeps): Host {
  /** Devices whose lock is held by a hanging write. */
  const locked = new Map<unknown, Promise<unknown>>();
  return wrapPorts(ports, (call, proceed) => {
    if (isWatch(call)) return watched(call, proceed);
    return isWrite(call) ? recorded(call, () => withFaults(call, proceed)) : withFaults(call, proceed);
  });

  function watched(call: PortCall, proceed: () => unknown): unknown {
    for (const { code, words } of faults.take(call))
      if (code !== undefined) throw new HostError(operationOf(call), code, { words });
    return proceed();
  }

  async function recorded(call: PortCall, run: () => Promise<unknown>): Promise<unknown> {
    const startedMs = clock.nowMs();
    const at = writes.push({ ...call, startedMs }) - 1;
    const end = (how: Pick<FakeWrite, "code">) => {
      writes[at] = { ...call, startedMs, endedMs: clock.nowMs(), ...how };
    };
    try {
      const result = await run();
      end({});
      return result;
    } catch (error) {
      end({ code: error instanceof HostError ? error.code : "" });
      throw error;
    }
  }

  /** Waits for the lock of the devices that the call reads (sriov_numvfs_show, 6.12). */
  async function whenReadable({ port, method, args }: PortCall): Promise<void> {
    if (port !== "sriov") return;
    if (method === "readPf") await locked.get(args[0]);
    if (method !== "listPfs") return;
    const except: readonly unknown[] = Array.isArray(args[0]) ? args[0] : [];
    await Promise.all([...locked].flatMap(([device, lock]) => (except.includes(device) ? [] : [lock])));
  }

  async function hang({ port, args }: PortCall, until: Promise<unknown>): Promise<void> {
    if (port === "sriov") locked.set(args[0], until);
    await until;
    if (port === "sriov") locked.delete(args[0]);
  }

  async function withFaults(call: PortCall, proceed: () => unknown): Promise<unknown> {
    const effects = faults.take(call);
    if (!isWrite(call)) await whenReadable(call);
    try {
      for (const { delayMs, until, act, code, words, late } of effects) {
        if (delayMs !== undefined) await clock.sleep(delayMs);
        if (until !== undefined) await hang(call, until);
        act?.();
        if (code !== undefined && late !== true) throw new Refusal(code, words);
      }
      const result = await proceed();
      for (const { code, words, late } of effects) if (code !== undefined && late) throw new Refusal(code, words);
      return result;
    } catch (refusal) {
      if (!(refusal instanceof Refusal)) throw refusal;
      const { code, words } = refusal;
      throw new HostError(operationOf(call), code, { words, cause: refusal });
    }
  }
}
