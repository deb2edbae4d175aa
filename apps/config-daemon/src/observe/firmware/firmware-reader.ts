// SPDX-License-Identifier: Apache-2.0
/**
 * createFirmwareReader adds the firmware settings of Mellanox cards to observed PFs, and the modes of BlueField cards. Only
 * cards that the spec or a record concerns are queried.
 */
import {
  defined,
  parsePciAddress,
  withoutFunction,
  type InterfaceStatus,
  type PciAddress,
  type SriovNetworkNodeStateSpec,
} from "@switchyard/api";
import { HostError, type FirmwareSettings, type Host, type PfRecord } from "@switchyard/host";
import { isMellanox, isVirtualNic, type Step } from "@switchyard/plan";
import { firmwareDisabledReason, smartNicModelOf, type FirmwarePolicy, type SmartNicModel } from "@switchyard/policy";
import { canBeRestricted, toCardModeStatus } from "./card-mode-status.ts";
import { createFirmwareQueries, type FirmwareQueriesDeps, type QueriedPort } from "./firmware-queries.ts";
import { toFirmwareStatus } from "./firmware-status.ts";

export interface FirmwareReader {
  /** Returns the PFs with their firmware settings, or with the reason why these cannot be read. Never rejects because of a card. */
  addTo(pfs: readonly InterfaceStatus[], desired: SriovNetworkNodeStateSpec): Promise<readonly InterfaceStatus[]>;
  /** Must be called when a step has ended: some steps change the firmware. */
  stepEnded(step: Step): void;
}

export interface FirmwareReaderDeps extends FirmwareQueriesDeps {
  /** The present policy. */
  readonly policy: () => FirmwarePolicy;
}

export function createFirmwareReader(host: Host, { policy, ...deps }: FirmwareReaderDeps): FirmwareReader {
  const queries = createFirmwareQueries(host, deps);
  /** Cards that were reset and have not used all their next values since then: another reset would not help. */
  const wereReset = new Set<string>();

  return {
    async addTo(pfs, desired) {
      if (!pfs.some(hasFirmware)) return pfs;
      const records = await host.records.list();
      const cards = concernedCards(pfs, desired, records);
      if (cards.size === 0) return pfs;
      const { isDisabled, isResetAllowed } = policy();
      const reason = isDisabled ? firmwareDisabledReason : await lockdownReason(host);
      const answers = reason === undefined ? await queries.ask(portsToAsk(cards)) : undefined;
      return pfs.map((pf): InterfaceStatus => {
        const { address, model } = portOf(pf);
        const card = withoutFunction(pf.pciAddress);
        const [first] = cards.get(card) ?? [];
        if (address === undefined || first === undefined) return pf;
        const isRead = reason !== undefined || answers?.has(address) === true;
        const answer = answers?.get(model === undefined ? first.address : address) ?? {
          unavailable: reason ?? "mstconfig has not answered yet",
        };
        if ("unavailable" in answer) {
          // Until the first answer, the mode is not reported, which is no problem of the node.
          const cardMode = model !== undefined && isRead ? ({ current: "unknown", ...answer } as const) : undefined;
          return { ...pf, ...defined({ cardMode }), firmware: answer };
        }
        const { settings } = answer;
        if (isEffective(settings)) wereReset.delete(card);
        const resetAllowed = isResetAllowed && !wereReset.has(card);
        return {
          ...pf,
          ...(model !== undefined && { cardMode: toCardModeStatus(model, answer) }),
          firmware: toFirmwareStatus(pf.pciAddress, { settings, record: records.get(address), resetAllowed }),
        };
      });
    },
    stepEnded(step) {
      if (step.kind === "set-card-mode") queries.forget(withoutFunction(step.port));
      if (step.kind !== "set-firmware" && step.kind !== "reset-firmware") return;
      queries.forget(step.card);
      if (step.kind === "reset-firmware") wereReset.add(step.card);
    },
  };
}

/** A port of a Mellanox card. `model` is undefined if the card is no SmartNIC. */
interface Port {
  readonly address: PciAddress;
  readonly model: SmartNicModel | undefined;
}

/** The settings are those of the card, except for the mode of a SmartNIC, which each port has. */
function portsToAsk(cards: ReadonlyMap<string, readonly Port[]>): readonly QueriedPort[] {
  return [...cards.values()].flatMap((ports) =>
    ports
      .filter(({ model }, index) => model !== undefined || index === 0)
      .map(({ address, model }) => ({
        pf: address,
        needsPrivilege: (settings) => model !== undefined && canBeRestricted(model, settings),
      })),
  );
}

function portOf(pf: InterfaceStatus): Partial<Port> {
  const address = parsePciAddress(pf.pciAddress);
  if (!hasFirmware(pf) || !address.ok) return {};
  return { address: address.value, model: smartNicModelOf(pf) };
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

/** Returns the ports of each card that has a port in the spec, or firmware settings that can be restored. */
function concernedCards(
  pfs: readonly InterfaceStatus[],
  desired: SriovNetworkNodeStateSpec,
  records: ReadonlyMap<PciAddress, PfRecord>,
): ReadonlyMap<string, readonly Port[]> {
  const wanted = (desired.interfaces ?? []).filter(
    ({ externallyManaged, cardMode }) => externallyManaged !== true || cardMode !== undefined,
  );
  const changed = [...records].filter(([, { firmware }]) => firmware !== undefined).map(([pf]) => pf);
  const concerned = new Set([...wanted.map(({ pciAddress }) => pciAddress), ...changed].map(withoutFunction));
  const cards = new Map<string, Port[]>();
  for (const pf of pfs) {
    const card = withoutFunction(pf.pciAddress);
    const { address, model } = portOf(pf);
    if (!concerned.has(card) || address === undefined) continue;
    cards.set(card, [...(cards.get(card) ?? []), { address, model }]);
  }
  return cards;
}

/** A VF that a hypervisor passes to a virtual machine has no settings of its own. */
function hasFirmware(pf: InterfaceStatus): boolean {
  return isMellanox(pf) && !isVirtualNic(pf);
}

function isEffective(settings: FirmwareSettings): boolean {
  const names = ["NUM_OF_VFS", "SRIOV_EN", "LINK_TYPE_P1", "LINK_TYPE_P2"];
  return names.every((name) => settings.get(name)?.current === settings.get(name)?.next);
}
