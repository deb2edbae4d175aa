// SPDX-License-Identifier: Apache-2.0
/** Steps that configure a PF itself. */
import {
  changesNoVf,
  disruptsNothing,
  existingVfs,
  isNeededByNone,
  isOfNoInterest,
  type PfStepKind,
} from "./step-kind.ts";

/** Sets the MTU of the PF in bytes: raises it to the requested value, or restores the value before the first configuration. */
interface SetPfMtu {
  readonly kind: "set-pf-mtu";
  readonly pciAddress: string;
  readonly from: number;
  readonly to: number;
}

const setPfMtu: PfStepKind<SetPfMtu> = {
  describe: ({ pciAddress, from, to }) => `set mtu ${from} -> ${to} on ${pciAddress}`,
  // Drivers reset the port to change the MTU, and the VFs lose their link for a second or more (igb on 6.12: 1.5 s).
  disruption({ from, to }, { numVfs = 0 }) {
    if (numVfs === 0) return undefined;
    return {
      cause: "mtu",
      text: `changing the MTU from ${from} to ${to} interrupts the link of ${existingVfs(numVfs)}`,
    };
  },
  isNeededBy: (_step, other) => other.kind === "set-vf-mtu",
  changedVfs: changesNoVf,
  summary: ({ from, to }) => `mtu ${from} -> ${to}`,
};

/** Sets the PF's link up. */
interface SetLinkUp {
  readonly kind: "set-link-up";
  readonly pciAddress: string;
}

const setLinkUp: PfStepKind<SetLinkUp> = {
  describe: ({ pciAddress }) => `set link up on ${pciAddress}`,
  disruption: disruptsNothing,
  isNeededBy: isNeededByNone,
  changedVfs: changesNoVf,
};

/** Removes the record that Switchyard configured the PF, after the PF was reset. */
interface ReleasePf {
  readonly kind: "release-pf";
  readonly pciAddress: string;
}

const releasePf: PfStepKind<ReleasePf> = {
  describe: ({ pciAddress }) => `release ${pciAddress}`,
  disruption: disruptsNothing,
  isNeededBy: isNeededByNone,
  changedVfs: changesNoVf,
  summary: isOfNoInterest,
};

/** The kinds of this subject by their names. */
export const portSteps = {
  "set-pf-mtu": setPfMtu,
  "set-link-up": setLinkUp,
  "release-pf": releasePf,
};
