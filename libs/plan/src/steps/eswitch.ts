// SPDX-License-Identifier: Apache-2.0
/** Steps that change the embedded switch of a card. */
import {
  changesAllVfs,
  changesNoVf,
  disruptsNothing,
  existingVfs,
  isNeededByNone,
  isOfNoInterest,
  type PfStepKind,
} from "./step-kind.ts";

export type EswitchMode = "legacy" | "switchdev";

/**
 * Changes the mode of the card's embedded switch, and waits for the representors of the VFs. VFs lose their drivers, which
 * later steps bind again.
 */
interface SetEswitchMode {
  readonly kind: "set-eswitch-mode";
  readonly pciAddress: string;
  readonly from: EswitchMode;
  readonly to: EswitchMode;
  /** Number of VFs that are created again if the driver refuses the mode; absent if it is the present number. */
  readonly restoreNumVfs?: number;
  /** The mode is left only while the number of VFs changes. */
  readonly isTemporary?: true;
}

const setEswitchMode: PfStepKind<SetEswitchMode> = {
  describe: ({ pciAddress, from, to }) => `set eswitch mode ${from} -> ${to} on ${pciAddress}`,
  disruption({ from, to, isTemporary }, { numVfs = 0 }) {
    if (numVfs === 0 || isTemporary === true) return undefined;
    const text = `changing the eswitch mode from ${from} to ${to} interrupts ${existingVfs(numVfs)}`;
    return { cause: "eSwitchMode", text };
  },
  // VFs, representors and bridges depend on the mode.
  isNeededBy: () => true,
  changedVfs: changesAllVfs,
  summary: ({ from, to, isTemporary }) => (isTemporary === true ? undefined : `eswitch mode ${from} -> ${to}`),
};

/**
 * Checks that the PF has an embedded switch, and turns on hw-tc-offload, without which the switch would forward nothing in
 * hardware. It runs before anything else changes, so a PF without an embedded switch stays as it is.
 */
interface PrepareSwitchdev {
  readonly kind: "prepare-switchdev";
  readonly pciAddress: string;
}

const prepareSwitchdev: PfStepKind<PrepareSwitchdev> = {
  describe: ({ pciAddress }) => `turn on hw-tc-offload on ${pciAddress}`,
  disruption: disruptsNothing,
  isNeededBy: () => true,
  changedVfs: changesNoVf,
  summary: isOfNoInterest,
};

/** Lets the driver instead of the firmware write the flow tables, which is many times faster (mlx5_core). */
interface SetFlowSteering {
  readonly kind: "set-flow-steering";
  readonly pciAddress: string;
  readonly from: string;
  readonly to: "smfs";
}

const setFlowSteering: PfStepKind<SetFlowSteering> = {
  describe: ({ pciAddress, from, to }) => `set flow_steering_mode ${from} -> ${to} on ${pciAddress}`,
  disruption: disruptsNothing, // no VF exists when it runs
  isNeededBy: isNeededByNone,
  changedVfs: changesNoVf,
  summary: isOfNoInterest,
};

/** The kinds of this subject by their names. */
export const eswitchSteps = {
  "set-eswitch-mode": setEswitchMode,
  "prepare-switchdev": prepareSwitchdev,
  "set-flow-steering": setFlowSteering,
};
