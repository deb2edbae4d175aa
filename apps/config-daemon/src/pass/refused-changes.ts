// SPDX-License-Identifier: Apache-2.0
/**
 * createRefusedChanges remembers disruptive changes of PFs, and of the whole node, that the host refuses. The plan gets them with
 * the observation (InterfaceStatus.refused and SystemStatus.refused), leaves them out, and needs no drain for them.
 */
import { defined, withoutFunction, type InterfaceStatus, type SriovNetworkNodeStateSpec } from "@switchyard/api";
import { describeStep, disruptionOf, disruptsNode, isBlockedBy, isOfNode, isPfStep, type Step } from "@switchyard/plan";
import type { Observation } from "../observe/observe.ts";
import { createRefusalMemory } from "./refusal-memory.ts";
import type { EndedSteps } from "./run-rounds.ts";

/** The parts of an observation that show refusals, or decide about them. */
type Observed = Pick<Observation, "interfaces" | "system" | "openVSwitch">;

export interface RefusedChanges {
  /** Returns the observation with the refused changes of the PFs and of the node. */
  addTo<Seen extends Observed>(found: Seen, desired: SriovNetworkNodeStateSpec): Seen;
  /** The steps of a plan have ended. `found` is the observation before the steps. */
  ended(ended: EndedSteps<Step, Observed>, desired: SriovNetworkNodeStateSpec): void;
}

/** Id of the whole node in the memory. PFs have their addresses. */
const nodeId = "";

export function createRefusedChanges(deps: { readonly nowMs: () => number }): RefusedChanges {
  const memory = createRefusalMemory(deps);
  return {
    addTo(found, desired) {
      const interfaces = found.interfaces.map((pf) => {
        const refused = memory.refusalOf(pf.pciAddress, inputsOf(pf, desired));
        return { ...pf, ...defined({ refused }) };
      });
      const refused = memory.refusalOf(nodeId, inputsOfNode(found, desired));
      return { ...found, interfaces, system: { ...found.system, ...defined({ refused }) } };
    },
    ended({ steps, failures, found }, desired) {
      for (const pf of found.interfaces) {
        const ofPf = steps.filter((step) => isOf(pf, step));
        if (!ofPf.some((step) => isDisruptive(step, pf))) continue;
        const own = failures.filter(({ step }) => concerns(step, ofPf));
        const errors = own.map(({ message }) => message);
        const answers = own.map(({ message, answer = message }) => answer);
        memory.tried(pf.pciAddress, {
          changes: ofPf.map(describeStep),
          errors,
          answers,
          inputs: inputsOf(pf, desired),
        });
      }
      const ofNode: readonly Step[] = steps.filter(isOfNode);
      if (!ofNode.some((step) => disruptsNode(step, found))) return;
      const errors = failures.filter(({ step }) => ofNode.includes(step)).map(({ message }) => message);
      memory.tried(nodeId, { changes: ofNode.map(describeStep), errors, inputs: inputsOfNode(found, desired) });
    },
  };
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

/** Records and errors of the attempts themselves are left out, such as those of the boot loader and of the last reboot. */
function inputsOfNode({ system, openVSwitch }: Observed, desired: SriovNetworkNodeStateSpec): unknown {
  const { rdmaMode, openVSwitchDisabled, kernel } = system;
  return {
    spec: desired,
    system: { rdmaMode, openVSwitchDisabled, arguments: kernel?.arguments, bootLoader: kernel?.bootLoader },
    hardwareOffload: openVSwitch?.hardwareOffload,
  };
}
