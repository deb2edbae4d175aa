// SPDX-License-Identifier: Apache-2.0
/**
 * createConnectivityGuard undoes changes that cut the node off from its network. Before steps on a PF that carries traffic of the host,
 * it records the state of the PF and which probes work. If one of these probes fails for too long after the steps, the PF gets its
 * former state back, and the change is not made again for the same spec. The record is on the disk before the first step, so the next
 * daemon, or the units of the next boot, finish what a killed daemon has begun.
 */
import { rolledBackReasons, type RolledBackChange, type SriovNetworkNodeStateSpec } from "@switchyard/api";
import { HostError, type Host, type HostFiles } from "@switchyard/host";
import { describeStep, pfSpecDigest, type Step } from "@switchyard/plan";
import type { Observation } from "../observe/observe.ts";
import { createWithDeadline, type StepTiming } from "../deadlines/with-deadline.ts";
import { guardFile, readGuardRecord, writeGuardRecord, type GuardRecord, type OpenChange } from "./guard-record.ts";
import { findGuarded, type ApiServerEndpoint, type Guarded } from "./guarded-pfs.ts";
import { describeProbe, firstFailing, workingOf, type Probe } from "./probes.ts";
import { restorePfs, type RestoreDeps } from "./restore-pfs.ts";

export interface ConnectivityGuardDeps extends RestoreDeps {
  readonly timing: StepTiming;
  readonly now: () => Date;
  /** Time that the probes have to work again; 0 turns the guard off. */
  readonly timeoutMs: number;
  readonly apiServer: () => Promise<ApiServerEndpoint>;
  /** Called with a sentence about a change that is made without the guard, or that was undone. */
  readonly warn: (fields: Readonly<Record<string, unknown>>, message: string) => void;
}

/** All methods reject with HostError. */
export interface ConnectivityGuard {
  /** Records the change that the steps are, before the first of them. Does nothing if they change no PF that carries traffic of the host. */
  open(steps: readonly Step[], change: GuardedChange): Promise<void>;
  /**
   * Decides about the recorded change after its steps: forgets it if all probes work, and undoes it otherwise. Returns one sentence for
   * each PF that was restored. Does nothing without a record, and for a change that the next boot makes. If `signal` aborts, the next
   * daemon decides.
   */
  settle(signal: AbortSignal): Promise<readonly string[]>;
  /** Returns the observation with the changes that were undone for the present spec. */
  readonly addTo: <Seen extends Pick<Observation, "interfaces">>(
    found: Seen,
    desired: SriovNetworkNodeStateSpec,
  ) => Promise<Seen>;
}

export interface GuardedChange {
  readonly found: Pick<Observation, "interfaces" | "bridges" | "records">;
  readonly desired: SriovNetworkNodeStateSpec;
  /** Whether the next boot runs the steps, and not the daemon. */
  readonly isAtBoot?: boolean;
}

/** A driver resets its port, and a switch learns the port again, in a few seconds. */
export const defaultConnectivityTimeoutMs = 30_000;

/** Time that a probe has to work again after a rollback before it is reported that it does not. */
const backMs = 15_000;

export function createConnectivityGuard(host: Host, deps: ConnectivityGuardDeps): ConnectivityGuard {
  const { timing, warn } = deps;
  const withDeadline = createWithDeadline(host, deps);

  /** A disk that hangs is reported, and does not stop the pass for ever. */
  async function onDisk<Answer>(work: (files: HostFiles) => Promise<Answer>): Promise<Answer> {
    const answer = await withDeadline(({ files }) => work(files));
    if (answer.ok) return answer.value;
    throw new HostError({ action: "access", target: guardFile }, "ETIMEDOUT", { words: answer.error });
  }

  return {
    async open(steps, { found, desired, isAtBoot = false }) {
      const record = await onDisk(readGuardRecord);
      if (record.open?.failed !== undefined) {
        const words = "the node has lost its network by an earlier change, which is not undone yet";
        throw new HostError({ action: "change PFs", target: "the node" }, "EBUSY", { words });
      }
      const bootId = await host.boot.readBootId();
      const guarded = await find(steps, { found, desired });
      if (isAtBoot && isPending(record.open, bootId, guarded)) return;
      const probes = await workingOf(guarded.probes, host);
      const counted = isAtBoot ? probesAtBoot(probes) : probes;
      const { pfs } = guarded;
      if (pfs.length === 0 || counted.length === 0) {
        if (pfs.length > 0) warn({ pfs: pfs.map(({ pciAddress }) => pciAddress) }, withoutProbes);
        // A change that the next boot makes stays recorded while the daemon runs other steps.
        if (record.open !== undefined && record.open.isAtBoot === isAtBoot)
          await onDisk((files) => writeGuardRecord(files, without(record)));
        return;
      }
      const tried = new Set(pfs.map(({ pciAddress }) => pciAddress));
      const rolledBack = Object.fromEntries(Object.entries(record.rolledBack).filter(([pf]) => !tried.has(pf)));
      const open = { bootId, isAtBoot, timeoutMs: deps.timeoutMs, probes: counted, pfs };
      await onDisk((files) => writeGuardRecord(files, { open, rolledBack }));
    },

    async settle(signal) {
      const record = await onDisk(readGuardRecord);
      const { open } = record;
      if (open === undefined) return [];
      if (open.isAtBoot && open.bootId === (await host.boot.readBootId())) return [];
      const { timeoutMs } = open;
      const failed = open.failed ?? (await firstFailing(open.probes, host, { timing, timeoutMs, signal }));
      if (failed === undefined) {
        await onDisk((files) => writeGuardRecord(files, without(record)));
        return [];
      }
      if (signal.aborted) return [];
      return await rollBack(record, { ...open, failed }, failed);
    },

    async addTo(found, desired) {
      const { rolledBack } = await onDisk(readGuardRecord);
      const interfaces = found.interfaces.map((pf) => {
        const undone = rolledBack[pf.pciAddress];
        return undone?.specDigest === pfSpecDigest(desired, pf.pciAddress) ? { ...pf, rolledBack: undone } : pf;
      });
      return { ...found, interfaces };
    },
  };

  /** A table of routes that changes all the time, as on a router, must not keep the node from being configured. */
  async function find(steps: readonly Step[], change: Omit<GuardedChange, "isAtBoot">): Promise<Guarded> {
    if (deps.timeoutMs === 0) return { pfs: [], probes: [] };
    try {
      return await findGuarded(host, steps, { ...change, apiServer: await deps.apiServer() });
    } catch (error) {
      if (!(error instanceof HostError)) throw error;
      warn(
        { error: error.message },
        "the traffic of the host is not known; the change is made without the connectivity guard",
      );
      return { pfs: [], probes: [] };
    }
  }

  async function rollBack(record: GuardRecord, open: OpenChange, failed: Probe): Promise<readonly string[]> {
    // A daemon that is killed during the rollback leaves a node that may be reached again, and must not end here.
    await onDisk((files) => writeGuardRecord(files, { ...record, open }));
    const restored = await restorePfs(host, open.pfs, deps);
    const timeoutMs = Math.min(open.timeoutMs, backMs);
    const signal = new AbortController().signal;
    const reachable = (await firstFailing([failed], host, { timing, timeoutMs, signal })) === undefined;
    const time = deps.now().toISOString();
    const undone = open.pfs.map(({ pciAddress, changes, specDigest }): readonly [string, RolledBackChange] => {
      const { done = [], error } = restored.get(pciAddress) ?? {};
      const change = { changes, probe: describeProbe(failed), undone: done.map(describeStep), reachable, specDigest };
      return [pciAddress, { ...change, reason: reasonOf(failed), time, ...(error !== undefined && { error }) }];
    });
    await onDisk((files) =>
      writeGuardRecord(files, { rolledBack: { ...record.rolledBack, ...Object.fromEntries(undone) } }),
    );
    return undone.map(([pciAddress, change]) => {
      warn({ pciAddress, ...change }, "the node lost its network by a change of this PF; the change was undone");
      const done = change.undone.length === 0 ? "nothing" : change.undone.join(", ");
      return `${pciAddress}: ${change.probe} failed after the change; undone: ${done}`;
    });
  }
}

const withoutProbes =
  "no probe works before the change of PFs that carry traffic of the host; it is made without the connectivity guard";

/** The API server can start later than the node, or on it. A gateway that answers shows that the PF works. */
function probesAtBoot(probes: readonly Probe[]): readonly Probe[] {
  const gateways = probes.filter(({ kind }) => kind === "gateway");
  return gateways.length > 0 ? gateways : probes;
}

/** While the node waits for its drain, the state before the change stays that of the first pass. */
function isPending(open: OpenChange | undefined, bootId: string, { pfs }: Guarded): boolean {
  const digestsOf = (each: readonly { readonly pciAddress: string; readonly specDigest: string }[]) =>
    each.map(({ pciAddress, specDigest }) => `${pciAddress} ${specDigest}`).join();
  return open?.isAtBoot === true && open.bootId === bootId && digestsOf(open.pfs) === digestsOf(pfs);
}

function without({ rolledBack }: GuardRecord): GuardRecord {
  return { rolledBack };
}

function reasonOf({ kind }: Probe): RolledBackChange["reason"] {
  return kind === "gateway" ? rolledBackReasons.gatewayUnreachable : rolledBackReasons.apiServerUnreachable;
}
