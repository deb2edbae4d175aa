// SPDX-License-Identifier: Apache-2.0
/**
 * Plans the firmware settings of Mellanox cards (sriov-operator.md F.8, smartnic.md 7.6). The current, the next and the
 * requested value decide between nothing, a change, a reset of the card, and a reboot. Each card is planned on its own
 * (sriov-operator.md M-2).
 */
import { withoutFunction } from "@switchyard/api";
import type {
  FirmwareStatus,
  InterfaceStatus,
  SriovNetworkNodeStateSpec,
  SriovNetworkNodeStateStatus,
} from "@switchyard/api";
import { firmwareDemands, linkTypeNumbers, type FirmwareDemand, type WantedPort } from "./firmware-demand.ts";
import type { Reason } from "../impact.ts";
import { isVirtualNic } from "../pf/virtual-nic.ts";
import type { PlanProblem } from "../problem.ts";
import { describeRefusal } from "../refused-change.ts";
import { mergeRebootNeeds, noRebootNeeds, type RebootCause, type RebootNeeds } from "../reboot.ts";
import { formatFirmwareChange, type FirmwareChange, type ResetFirmware, type SetFirmware } from "../steps/firmware.ts";
import { describeStep } from "../steps/step.ts";
import { driverProblem, isMellanox, vfLimitProblem } from "../pf/pf-problems.ts";

export interface FirmwarePlan {
  /** In the order in which they must run. */
  readonly steps: readonly (SetFirmware | ResetFirmware)[];
  /** Why the steps disrupt pods. */
  readonly reasons: readonly Reason[];
  readonly problems: readonly PlanProblem[];
  /** Why the node must reboot. */
  readonly reboots: RebootNeeds;
  /** PFs that cannot be configured before the firmware has changed. They get no steps. */
  readonly held: ReadonlySet<string>;
}

/** `pending` are the addresses of cards that wait for a power cycle, which applies all changes (plan-card-mode.ts). */
export function planFirmware(
  desired: SriovNetworkNodeStateSpec,
  observed: SriovNetworkNodeStateStatus,
  pending: ReadonlySet<string> = new Set(),
): FirmwarePlan {
  const cards = cardsOf(desired, observed);
  const plans = cards.map((card) => withoutRefusedReset(card, planCard(card, pending.has(card.address))));
  const inEffect = (observed.system?.reboot?.causes ?? []).filter((id) => cards.some((card) => isInEffect(id, card)));
  return {
    steps: plans.flatMap(({ steps }) => steps),
    reasons: plans.flatMap(({ reasons }) => reasons),
    problems: plans.flatMap(({ problems }) => problems),
    reboots: mergeRebootNeeds([...plans.map(({ reboots }) => reboots), { causes: [], inEffect }]),
    held: new Set(plans.flatMap(({ held }) => [...held])),
  };
}

interface Card {
  /** PCI address without the function. */
  readonly address: string;
  /** All ports of the card on this node. */
  readonly ports: readonly InterfaceStatus[];
  /** The ports that are in the spec, also those that are externally managed. */
  readonly wanted: readonly WantedPort[];
  /** PCI addresses of ports whose configuration is removed. */
  readonly unselected: readonly string[];
}

function cardsOf(desired: SriovNetworkNodeStateSpec, observed: SriovNetworkNodeStateStatus): readonly Card[] {
  const byCard = Map.groupBy(
    (observed.interfaces ?? []).filter((pf) => isMellanox(pf) && !isVirtualNic(pf)),
    ({ pciAddress }) => withoutFunction(pciAddress),
  );
  const specs = new Map((desired.interfaces ?? []).map((spec, index) => [spec.pciAddress, { spec, index }]));
  const unselected = new Set(desired.unselected);
  return [...byCard].map(([address, ports]) => ({
    address,
    ports,
    wanted: ports.flatMap((pf) => {
      const entry = specs.get(pf.pciAddress);
      return entry === undefined ? [] : [{ pf, spec: entry.spec, field: `spec.interfaces[${entry.index}]` }];
    }),
    unselected: ports.flatMap(({ pciAddress }) => (unselected.has(pciAddress) ? [pciAddress] : [])),
  }));
}

const nothing: FirmwarePlan = { steps: [], reasons: [], problems: [], reboots: noRebootNeeds, held: new Set() };

function planCard(card: Card, waitsForPowerCycle: boolean): FirmwarePlan {
  if (card.wanted.length === 0) return planRestore(card);
  // A port whose spec is refused anyway must not change the firmware for the other port.
  const ports = card.wanted.filter(
    ({ pf, spec }) =>
      spec.externallyManaged !== true &&
      vfLimitProblem(spec.numVfs ?? 0, pf) === undefined &&
      driverProblem(spec, pf, "") === undefined,
  );
  const demands = firmwareDemands(ports);
  const firmware = card.ports.find((pf) => pf.firmware !== undefined)?.firmware;
  const needed = demands.filter(({ isNeeded }) => isNeeded);
  const problems = needed.flatMap((demand) => problemOf(demand, needed, firmware));
  if (problems.length > 0) {
    return { ...nothing, problems: firstOfEachField(problems), held: new Set(problems.map((each) => each.pciAddress)) };
  }

  const pending = needed.filter(({ current, isEnough }) => current === undefined || !isEnough(current));
  const toSet = [...pending, ...demands.filter((demand) => !pending.includes(demand) && isLostAtReset(demand))].filter(
    ({ next, isEnough }) => next === undefined || !isEnough(next),
  );
  const set = toSet.length === 0 ? [] : [setStep(card, valuesOf(toSet))];
  if (pending.length === 0) return { ...nothing, steps: set };

  const held = new Set(card.wanted.map(({ pf }) => pf.pciAddress));
  if (waitsForPowerCycle) return { ...nothing, steps: set, held };
  const change = formatFirmwareChange(valuesOf(pending));
  const about = ({ field, pciAddress }: FirmwareDemand, text: string): Reason => ({
    field,
    pciAddress,
    text: `${pciAddress}: ${text}`,
  });
  const [first] = pending;
  if (first === undefined) return nothing;
  if (firmware?.resetAllowed === true && !hasForeignVfs(card)) {
    const reset: ResetFirmware = {
      kind: "reset-firmware",
      card: card.address,
      ports: card.ports.map(({ pciAddress }) => pciAddress),
    };
    const reason = about(first, `changing its firmware settings (${change}) resets the card`);
    return { ...nothing, steps: [...set, reset], reasons: [reason], held };
  }
  const causes = pending.map((demand): RebootCause => {
    const setting = `${demand.name}=${demand.value}`;
    const text = `${demand.wanted} needs the firmware setting ${setting}, which takes effect at the next boot`;
    return { ...about(demand, text), id: `firmware ${card.address} ${setting}`, isPending: !toSet.includes(demand) };
  });
  return { ...nothing, steps: set, reboots: { causes, inEffect: [] }, held };
}

/** As withoutRefused: the drain for a reset is in vain if the firmware settings are refused each time. */
function withoutRefusedReset({ ports }: Card, card: FirmwarePlan): FirmwarePlan {
  const refused = ports.find((pf) => pf.refused !== undefined)?.refused;
  const [reason] = card.reasons;
  if (refused === undefined || reason === undefined) return card;
  const changes = new Set(refused.changes);
  if (!card.steps.every((step) => changes.has(describeStep(step)))) return card;
  const { text: _text, ...at } = reason;
  const problem: PlanProblem = {
    ...at,
    code: "refused",
    message: describeRefusal(refused, "the PF stays as it is until its spec, its driver or its VFs change"),
  };
  return { ...card, steps: [], reasons: [], problems: [...card.problems, problem] };
}

/** Reports whether the setting of a recorded cause has its value now. */
function isInEffect(id: string, { address, ports }: Card): boolean {
  const [, card, name, value] = /^firmware (\S+) (\w+)=(\d+)$/.exec(id) ?? [];
  const firmware = ports.find((pf) => pf.firmware !== undefined)?.firmware;
  if (card !== address || firmware === undefined) return false;
  const wanted = Number(value);
  if (name === "NUM_OF_VFS") return (firmware.numVfs?.current ?? -1) >= wanted;
  if (name === "SRIOV_EN") return firmware.sriovEnabled?.current === (wanted === 1);
  const port = ports.find(({ pciAddress }) => pciAddress.endsWith(name === "LINK_TYPE_P2" ? ".1" : ".0"));
  const type = port?.firmware?.linkType?.current;
  return type !== undefined && linkTypeNumbers.get(type) === wanted;
}

/** A setting that is enough now, but not after the next reset: somebody lowered it. */
function isLostAtReset({ current, next, isEnough }: FirmwareDemand): boolean {
  return current !== undefined && isEnough(current) && next !== undefined && !isEnough(next);
}

/** Returns why the demand cannot be met. */
function problemOf(
  demand: FirmwareDemand,
  needed: readonly FirmwareDemand[],
  firmware: FirmwareStatus | undefined,
): readonly Required<PlanProblem>[] {
  const { name, current, next, isEnough, field, pciAddress, wanted } = demand;
  const requested = `${wanted} requested, but`;
  const problem = (message: string): readonly Required<PlanProblem>[] => [
    { code: "firmware", field, pciAddress, message: `${requested} ${message}` },
  ];
  if (firmware === undefined) return []; // not read yet
  if (firmware.unavailable !== undefined) {
    return problem(`the firmware settings of ${pciAddress} cannot be changed: ${firmware.unavailable}`);
  }
  if (current === undefined && next === undefined)
    return problem(`the firmware of ${pciAddress} has no setting ${name}`);
  const isEffective = (each: FirmwareDemand): boolean => each.current !== undefined && each.isEnough(each.current);
  const sameField = needed.filter((each) => each.field === field);
  if (current !== undefined && isEnough(current) && sameField.every(isEffective)) {
    const values = formatFirmwareChange(Object.fromEntries(sameField.map((each) => [each.name, each.current])));
    return problem(`${pciAddress} does not offer this, although its firmware settings allow it (${values})`);
  }
  return [];
}

function firstOfEachField<Of extends PlanProblem>(problems: readonly Of[]): readonly Of[] {
  return [...new Map(problems.toReversed().map((problem) => [problem.field, problem])).values()].toReversed();
}

function valuesOf(demands: readonly FirmwareDemand[]): FirmwareChange {
  return Object.fromEntries(demands.map(({ name, value }) => [name, value]));
}

function setStep({ address, ports }: Card, values: FirmwareChange, restores = false): SetFirmware {
  const through = ports[0]?.pciAddress ?? "";
  return { kind: "set-firmware", card: address, through, values, ...(restores && { restores }) };
}

/** A reset removes the VFs of all ports. VFs that something else created must stay. */
function hasForeignVfs({ ports, wanted }: Card): boolean {
  const ours = new Set(wanted.flatMap(({ pf, spec }) => (spec.externallyManaged === true ? [] : [pf.pciAddress])));
  return ports.some((pf) => (pf.numVfs ?? 0) > 0 && !ours.has(pf.pciAddress) && pf.owned !== true);
}

/**
 * Restores the values from before Switchyard changed them, when no policy selects a port of the card any longer. They take
 * effect with the next reboot, whenever that is.
 */
function planRestore(card: Card): FirmwarePlan {
  const { ports, unselected } = card;
  const owned = ports.filter((pf) => pf.owned === true);
  if (owned.length === 0 || owned.some(({ pciAddress }) => !unselected.includes(pciAddress))) return nothing;
  const values = Object.assign({}, ...owned.map(restoredBy)) as FirmwareChange;
  return Object.keys(values).length === 0 ? nothing : { ...nothing, steps: [setStep(card, values, true)] };
}

function restoredBy({ pciAddress, externallyManaged, firmware }: InterfaceStatus): FirmwareChange {
  if (externallyManaged === true || firmware?.initial === undefined || firmware.unavailable !== undefined) return {};
  const { initial, numVfs, sriovEnabled, linkType } = firmware;
  const type = linkTypeNumbers.get(initial.linkType ?? "");
  return {
    ...(initial.numVfs !== undefined && initial.numVfs !== numVfs?.next && { NUM_OF_VFS: initial.numVfs }),
    ...(initial.sriovEnabled !== undefined &&
      initial.sriovEnabled !== sriovEnabled?.next && { SRIOV_EN: Number(initial.sriovEnabled) }),
    ...(type !== undefined &&
      initial.linkType !== linkType?.next && { [pciAddress.endsWith(".1") ? "LINK_TYPE_P2" : "LINK_TYPE_P1"]: type }),
  };
}
