// SPDX-License-Identifier: Apache-2.0
/**
 * createFirmwareReader adds the firmware settings of Mellanox cards to observed PFs. A query forks a program and takes
 * hundreds of milliseconds, or never ends. So only cards that the spec or a record concerns are queried, an answer is kept
 * until the firmware is changed or the card appears again, and a pass waits only a short time for it.
 * Usage: `const firmware = createFirmwareReader(host, deps); const pfs = await firmware.addTo(found.interfaces, desired);`
 */
import {
  parsePciAddress,
  type FirmwareStatus,
  type InterfaceStatus,
  type PciAddress,
  type SriovNetworkNodeStateSpec,
} from "@switchyard/api";
import { HostError, type FirmwareSettings, type Host, type PfRecord } from "@switchyard/host";
import { isMellanox, isVirtualNic, type Step } from "@switchyard/plan";
import { endsWithin } from "../deadlines/ends-within.ts";
import type { StepTiming } from "../steps/step-context.ts";
import { toFirmwareStatus } from "./firmware-status.ts";

export interface FirmwareReader {
  /** Returns the PFs with their firmware settings, or with the reason why these cannot be read. Never rejects because of a card. */
  addTo(pfs: readonly InterfaceStatus[], desired: SriovNetworkNodeStateSpec): Promise<readonly InterfaceStatus[]>;
  /** Must be called when a step has ended: some steps change the firmware. */
  stepEnded(step: Step): void;
}

/** The part of the SriovOperatorConfig that concerns firmware. */
export interface FirmwarePolicy {
  /** spec.disablePlugins contains "mellanox". */
  readonly isDisabled: boolean;
  /** The feature gate mellanoxFirmwareReset. */
  readonly isResetAllowed: boolean;
}

export interface FirmwareReaderDeps {
  readonly timing: StepTiming;
  /** The present policy. */
  readonly policy: () => FirmwarePolicy;
  /** Starts another pass, because a late answer has arrived. */
  readonly wake: () => void;
}

/** Time that a pass waits for the answers of all cards. */
const waitMs = 3_000;

/** Time after which a failed query is repeated. */
const retryMs = 10 * 60_000;

const disabledReason = 'SriovOperatorConfig.spec.disablePlugins contains "mellanox"';

export function createFirmwareReader(host: Host, { timing, policy, wake }: FirmwareReaderDeps): FirmwareReader {
  const queries = new Map<string, Query>();
  /** Cards that were reset and have not used all their next values since then: another reset would not help. */
  const wereReset = new Set<string>();

  return {
    async addTo(pfs, desired) {
      if (!pfs.some(hasFirmware)) return pfs;
      const records = await host.records.list();
      const cards = concernedCards(pfs, desired, records);
      if (cards.size === 0) return pfs;
      const { isDisabled, isResetAllowed } = policy();
      const reason = isDisabled ? disabledReason : await lockdownReason(host);
      const answers = reason === undefined ? await askAll(cards) : undefined;
      return pfs.map((pf): InterfaceStatus => {
        const card = cardOf(pf.pciAddress);
        if (!cards.has(card)) return pf;
        const answer = answers?.get(card) ?? { unavailable: reason ?? "mstconfig has not answered yet" };
        if ("unavailable" in answer) return { ...pf, firmware: answer };
        const address = parsePciAddress(pf.pciAddress);
        const record = address.ok ? records.get(address.value) : undefined;
        const resetAllowed = isResetAllowed && !wereReset.has(card);
        return {
          ...pf,
          firmware: toFirmwareStatus(pf.pciAddress, { settings: answer.settings, record, resetAllowed }),
        };
      });
    },
    stepEnded(step) {
      if (step.kind !== "set-firmware" && step.kind !== "reset-firmware") return;
      queries.delete(step.card);
      if (step.kind === "reset-firmware") wereReset.add(step.card);
    },
  };

  /** Returns the answers that arrive in time. */
  async function askAll(cards: ReadonlyMap<string, PciAddress>): Promise<ReadonlyMap<string, Answer>> {
    const running = await Promise.all([...cards].map(([card, port]) => ask(card, port)));
    const isInTime = await endsWithin(Promise.all(running.map(({ ended }) => ended)), waitMs, timing);
    if (!isInTime) for (const query of running) query.isAwaited ||= query.answer === undefined;
    return new Map(running.flatMap(({ card, answer }) => (answer === undefined ? [] : [[card, answer]])));
  }

  async function ask(card: string, port: PciAddress): Promise<Query> {
    // The function is another one after it was removed, or its driver was bound again.
    const incarnation = (await host.sriov.readBinding(port).catch(() => undefined))?.incarnation ?? "";
    const known = queries.get(card);
    if (known !== undefined && isUsable(known, incarnation)) return known;
    const query: Query = {
      ...{ card, incarnation, startedMs: timing.nowMs(), answer: undefined, isAwaited: false },
      ended: Promise.resolve(),
    };
    queries.set(card, query);
    query.ended = querySettings(host, port).then((answer) => {
      query.answer = answer;
      if ("settings" in answer && isEffective(answer.settings)) wereReset.delete(card);
      if (query.isAwaited) wake();
    });
    return query;
  }

  function isUsable({ incarnation, answer, startedMs }: Query, present: string): boolean {
    if (answer === undefined) return true; // still running: no second program for the same card
    if (incarnation !== present) return false;
    return "settings" in answer || timing.nowMs() - startedMs < retryMs;
  }
}

type Answer = { readonly settings: FirmwareSettings } | Required<Pick<FirmwareStatus, "unavailable">>;

interface Query {
  readonly card: string;
  readonly incarnation: string;
  readonly startedMs: number;
  /** Never rejects because of the host. */
  ended: Promise<void>;
  answer: Answer | undefined;
  /** A pass did not wait for the answer. */
  isAwaited: boolean;
}

async function querySettings(host: Host, port: PciAddress): Promise<Answer> {
  try {
    return { settings: await host.firmware.readSettings(port) };
  } catch (thrown) {
    if (!(thrown instanceof HostError)) throw thrown;
    return { unavailable: thrown.message };
  }
}

async function lockdownReason(host: Host): Promise<string | undefined> {
  try {
    const mode = (await host.firmware.readLockdown()) ?? "none";
    return mode === "none" ? undefined : `the kernel is in lockdown mode ${mode}, which denies access to the firmware`;
  } catch (thrown) {
    if (!(thrown instanceof HostError)) throw thrown;
    return thrown.message;
  }
}

/** Returns the first port of each card that has a port in the spec, or firmware settings that can be restored. */
function concernedCards(
  pfs: readonly InterfaceStatus[],
  desired: SriovNetworkNodeStateSpec,
  records: ReadonlyMap<PciAddress, PfRecord>,
): ReadonlyMap<string, PciAddress> {
  const wanted = (desired.interfaces ?? []).filter(({ externallyManaged }) => externallyManaged !== true);
  const changed = [...records].filter(([, { firmware }]) => firmware !== undefined).map(([pf]) => pf);
  const concerned = new Set([...wanted.map(({ pciAddress }) => pciAddress), ...changed].map(cardOf));
  const cards = new Map<string, PciAddress>();
  for (const pf of pfs) {
    const card = cardOf(pf.pciAddress);
    const address = parsePciAddress(pf.pciAddress);
    if (hasFirmware(pf) && concerned.has(card) && !cards.has(card) && address.ok) cards.set(card, address.value);
  }
  return cards;
}

/** A VF that a hypervisor passes to a virtual machine has no settings of its own. */
function hasFirmware(pf: InterfaceStatus): boolean {
  return isMellanox(pf) && !isVirtualNic(pf);
}

function cardOf(pciAddress: string): string {
  return pciAddress.slice(0, pciAddress.lastIndexOf("."));
}

function isEffective(settings: FirmwareSettings): boolean {
  const names = ["NUM_OF_VFS", "SRIOV_EN", "LINK_TYPE_P1", "LINK_TYPE_P2"];
  return names.every((name) => settings.get(name)?.current === settings.get(name)?.next);
}
