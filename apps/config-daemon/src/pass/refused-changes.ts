// SPDX-License-Identifier: Apache-2.0
/**
 * createRefusedChanges remembers disruptive changes of PFs that the host refuses. Each attempt costs the pods of the node, so
 * a change that has failed several times in the same way is not tried again until its inputs change or a long time has
 * passed. The plan gets it with the observation (InterfaceStatus.refused), leaves it out, and needs no drain for it. The
 * memory ends with the process: a restart tries everything again.
 */
import {
  withoutFunction,
  type InterfaceStatus,
  type RefusedChange,
  type SriovNetworkNodeStateSpec,
} from "@switchyard/api";
import { describeStep, disruptionOf, isBlockedBy, isPfStep, type Step } from "@switchyard/plan";
import { isDeepStrictEqual } from "node:util";
import type { StepFailure } from "./apply-steps.ts";

export interface RefusedChanges {
  /** Returns the PFs, those with a refused change with `refused`. */
  addTo(found: readonly InterfaceStatus[], desired: SriovNetworkNodeStateSpec): readonly InterfaceStatus[];
  /** The steps of a plan have ended. */
  ended(attempt: EndedAttempt): void;
}

export interface EndedAttempt {
  readonly steps: readonly Step[];
  /** Empty if all of them succeeded. */
  readonly failures: readonly StepFailure[];
  /** The PFs as observed before the steps. */
  readonly found: readonly InterfaceStatus[];
  readonly desired: SriovNetworkNodeStateSpec;
}

/** Equal failures after which a change is not tried again. */
const maxAttempts = 3;

/**
 * First and longest time after which it is tried again nevertheless, once: what refuses it may be invisible, such as a setting of
 * the firmware, or last minutes, such as a reset of the card.
 */
const pause = { firstMs: 10 * 60_000, longestMs: 6 * 60 * 60_000 };

export function createRefusedChanges({ nowMs }: { readonly nowMs: () => number }): RefusedChanges {
  const byPf = new Map<string, Refusal>();

  function failed(pciAddress: string, attempt: Attempt): void {
    const before = byPf.get(pciAddress);
    const isSame = before !== undefined && isDeepStrictEqual(before.attempt, attempt);
    byPf.set(pciAddress, { attempt, count: isSame ? before.count + 1 : 1, atMs: nowMs() });
  }

  return {
    addTo: (found, desired) =>
      found.map((pf) => {
        const refusal = byPf.get(pf.pciAddress);
        if (refusal === undefined || nowMs() - refusal.atMs >= pauseAfter(refusal.count)) return pf;
        const { changes, errors, inputs } = refusal.attempt;
        if (!isDeepStrictEqual(inputs, inputsOf(pf, desired))) return pf;
        const refused: RefusedChange = { changes, error: errors.join("; "), attempts: refusal.count };
        return { ...pf, refused };
      }),
    ended({ steps, failures, found, desired }) {
      for (const pf of found) {
        const { pciAddress } = pf;
        const ofPf = steps.filter((step) => isOf(pf, step));
        if (!ofPf.some((step) => isDisruptive(step, pf))) continue;
        const errors = failures.filter(({ step }) => concerns(step, ofPf)).map(({ message }) => message);
        if (errors.length === 0) byPf.delete(pciAddress);
        else failed(pciAddress, { changes: ofPf.map(describeStep), errors, inputs: inputsOf(pf, desired) });
      }
    },
  };
}

/** Returns milliseconds. */
function pauseAfter(attempts: number): number {
  return attempts < maxAttempts ? 0 : Math.min(pause.firstMs * 2 ** (attempts - maxAttempts), pause.longestMs);
}

interface Refusal {
  readonly attempt: Attempt;
  /** Number of equal attempts. */
  readonly count: number;
  /** Time of the last one. */
  readonly atMs: number;
}

/** What has been tried, on what, and the answer. */
interface Attempt {
  readonly changes: readonly string[];
  readonly errors: readonly string[];
  readonly inputs: unknown;
}

/** The steps of the card are steps of each of its ports. */
function isOf({ pciAddress }: InterfaceStatus, step: Step): boolean {
  if (isPfStep(step)) return step.pciAddress === pciAddress;
  return "card" in step && step.card === withoutFunction(pciAddress);
}

function isDisruptive(step: Step, pf: InterfaceStatus): boolean {
  return isPfStep(step) ? disruptionOf(step, pf) !== undefined : step.kind === "reset-firmware";
}

/** A PF is also concerned by a step of the node that its steps need, such as the module of a driver. */
function concerns(failed: Step, ofPf: readonly Step[]): boolean {
  return ofPf.includes(failed) || ofPf.some((step) => !isPfStep(failed) && isBlockedBy(step, failed));
}

/**
 * What decides about the answer of the host: the spec of the PF, its card and driver, and its VFs. Values that an attempt
 * itself changes are left out: a VF that is bound again has another random MAC address.
 */
function inputsOf(
  pf: InterfaceStatus,
  { interfaces = [], unselected = [], bridges }: SriovNetworkNodeStateSpec,
): unknown {
  const { pciAddress, driver, vendor, deviceID, totalvfs, numVfs, eSwitchMode, linkType, firmware, Vfs: vfs = [] } = pf;
  const isUplink = ({ uplinks = [] }: { readonly uplinks?: readonly { readonly pciAddress: string }[] }) =>
    uplinks.some((uplink) => uplink.pciAddress === pciAddress);
  return {
    spec: interfaces.find((each) => each.pciAddress === pciAddress),
    isUnselected: unselected.includes(pciAddress),
    bridges: [...(bridges?.ovs ?? []).filter(isUplink), ...(bridges?.linux ?? []).filter(isUplink)],
    card: { driver, vendor, deviceID, totalvfs, numVfs, eSwitchMode, linkType, firmware },
    vfs: vfs.map((vf) => ({ vfID: vf.vfID, driver: vf.driver, hasInterface: Boolean(vf.name), vdpaType: vf.vdpaType })),
  };
}
