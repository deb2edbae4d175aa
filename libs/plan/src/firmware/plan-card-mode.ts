// SPDX-License-Identifier: Apache-2.0
/**
 * Plans the mode of SmartNICs (smartnic.md 7.6). Another mode takes effect only when the host was switched off and on again,
 * which nothing but an administrator can do. So the firmware is changed once, and the rest is a problem of the node until the
 * mode is observed; the node never reboots for it.
 */
import { withoutFunction } from "@switchyard/api";
import type {
  CardMode,
  InterfaceStatus,
  SriovNetworkNodeStateSpec,
  SriovNetworkNodeStateStatus,
} from "@switchyard/api";
import { smartNicModelOf, type SmartNicModel } from "@switchyard/policy";
import { valuesForEmbeddedCpu } from "../card-mode.ts";
import { isVirtualNic } from "../pf/virtual-nic.ts";
import type { PlanProblem } from "../problem.ts";
import type { NodeStep } from "../steps/step.ts";

export interface CardModePlan {
  readonly steps: readonly NodeStep<"set-card-mode">[];
  readonly problems: readonly PlanProblem[];
  /**
   * PCI addresses without the function of cards whose mode will change. Until then, neither a reset nor a reboot for other
   * firmware settings makes sense.
   */
  readonly pending: ReadonlySet<string>;
}

export function planCardMode(desired: SriovNetworkNodeStateSpec, observed: SriovNetworkNodeStateStatus): CardModePlan {
  const plans = cardsOf(desired, observed).map(planCard);
  return {
    steps: plans.flatMap(({ steps }) => steps),
    problems: plans.flatMap(({ problems }) => problems),
    pending: new Set(plans.flatMap(({ pending }) => [...pending])),
  };
}

/** A card of which the spec requests a mode. */
interface Card {
  readonly address: string;
  readonly model: SmartNicModel;
  /** Path of the request in the NodeState, and the PF that it belongs to. */
  readonly field: string;
  readonly pciAddress: string;
  /** All ports of the card on this node. The mode applies to each port, and they must agree. */
  readonly ports: readonly InterfaceStatus[];
}

function cardsOf(
  desired: SriovNetworkNodeStateSpec,
  { interfaces = [] }: SriovNetworkNodeStateStatus,
): readonly Card[] {
  const cards = new Map<string, Card>();
  for (const [index, { pciAddress, cardMode }] of (desired.interfaces ?? []).entries()) {
    const address = withoutFunction(pciAddress);
    const pf = interfaces.find((each) => each.pciAddress === pciAddress);
    const model = pf && modelOf(pf);
    if (cardMode !== "embedded-cpu" || model === undefined || cards.has(address)) continue;
    const ports = interfaces.filter((each) => withoutFunction(each.pciAddress) === address && modelOf(each) === model);
    cards.set(address, { address, model, field: `spec.interfaces[${index}].cardMode`, pciAddress, ports });
  }
  return [...cards.values()];
}

/** Nothing is planned for a port whose mode was not read yet. */
function planCard({ address, model, field, pciAddress, ports }: Card): CardModePlan {
  const known = ports.filter(({ cardMode }) => cardMode !== undefined);
  const problem = (code: "card-mode" | "power-cycle-required", message: string): PlanProblem => ({
    code,
    field,
    pciAddress,
    message: `"embedded-cpu" requested, but ${message}`,
  });
  const [unreadable] = known.filter(({ cardMode }) => cardMode?.unavailable !== undefined);
  if (unreadable !== undefined) {
    const why = unreadable.cardMode?.unavailable ?? "";
    const message = `the mode of card ${address} cannot be read or changed: ${why}`;
    return { steps: [], problems: [problem("card-mode", message)], pending: new Set() };
  }
  const wrong = known.filter(({ cardMode }) => !isEmbedded(cardMode?.current));
  const unclear = wrong.find(({ cardMode }) => !isChangeable(cardMode?.current));
  if (unclear !== undefined) {
    const message =
      `the mode of card ${address} is unknown: the firmware settings INTERNAL_CPU_… of ${unclear.pciAddress} are ` +
      "incomplete or fit no mode; set them with mstconfig, and switch the host off and on again";
    return { steps: [], problems: [problem("card-mode", message)], pending: new Set() };
  }
  // Another mode that somebody chose for the next power cycle would take the card away from OVN.
  const toSet = known.filter(({ cardMode }) => !isEmbedded(cardMode?.next));
  const locked = toSet.find(({ cardMode }) => cardMode?.current === "restricted");
  if (locked !== undefined) {
    const message =
      `card ${address} will run in mode ${locked.cardMode?.next ?? "unknown"} after a power cycle, and is restricted, so the ` +
      "host may not change it; change the mode on the system of the card";
    return { steps: [], problems: [problem("card-mode", message)], pending: new Set() };
  }
  const steps = toSet.map((port): NodeStep<"set-card-mode"> => {
    const values = valuesForEmbeddedCpu(model, port.cardMode?.next);
    return { kind: "set-card-mode", port: port.pciAddress, to: "embedded-cpu", values };
  });
  const [first] = wrong;
  if (first === undefined) return { steps, problems: [], pending: new Set() };
  const message =
    `card ${address} (${model}) runs in mode ${first.cardMode?.current ?? "unknown"}; the other mode takes effect when the ` +
    "host is switched off and on again, a reboot is not enough";
  return { steps, problems: [problem("power-cycle-required", message)], pending: new Set([address]) };
}

/** The host of a restricted card may not change it, and the card's own processors control the network all the same. */
function isEmbedded(mode: CardMode | undefined): boolean {
  return mode === "embedded-cpu" || mode === "restricted";
}

function isChangeable(mode: CardMode | undefined): boolean {
  return mode === "separated-host" || mode === "nic";
}

function modelOf(pf: InterfaceStatus): SmartNicModel | undefined {
  return isVirtualNic(pf) ? undefined : smartNicModelOf(pf);
}
