// SPDX-License-Identifier: Apache-2.0
/**
 * What is filled into a policy before it is judged (sriov-operator.md E.1). deviceType has its default in the CRD.
 * Usage: `const { patch } = applyDefaults({ operation: "CREATE", object: policy });`
 */
import type { SriovNetworkNodePolicy } from "@switchyard/api";
import { isIgnoredPolicy } from "./ignored-policy.ts";
import { warn, type Finding } from "./finding.ts";
import type { Change } from "./review.ts";

/** One operation of a JSON patch (RFC 6902). "add" also replaces a member that is there. */
export interface PatchOperation {
  readonly op: "add";
  readonly path: string;
  readonly value: unknown;
}

export interface Defaulted {
  /** The object with the defaults in it. */
  readonly object: SriovNetworkNodePolicy;
  /** What makes it of the object as it came; empty where nothing was missing. */
  readonly patch: readonly PatchOperation[];
  readonly findings: readonly Finding[];
}

/** Of priorities, the weakest. */
const weakest = 99;

/** Fills in what is missing; a policy named "default", which nobody applies, stays as it is. */
export function applyDefaults(change: Exclude<Change<SriovNetworkNodePolicy>, { operation: "DELETE" }>): Defaulted {
  const { object } = change;
  if (isIgnoredPolicy(object)) return { object, patch: [], findings: [] };
  const { spec } = object;
  const priority = spec.priority === undefined ? missingPriority(change) : undefined;
  const isRdma = rdmaDefault(object);
  const filled = {
    ...(priority === undefined ? {} : { priority }),
    ...(isRdma === undefined ? {} : { isRdma }),
  };
  return {
    object: { ...object, spec: { ...spec, ...filled } },
    patch: Object.entries(filled).map(([name, value]) => ({ op: "add", path: `/spec/${name}`, value })),
    findings: change.operation === "UPDATE" && priority !== undefined && priority !== weakest ? [kept(priority)] : [],
  };
}

/**
 * A client in Go cannot send priority 0, the strongest: the key is absent. An update without it keeps what is stored, be
 * that a number or, read as 0, its absence (M-38).
 */
function missingPriority(change: Change<SriovNetworkNodePolicy>): number | undefined {
  return change.operation === "UPDATE" ? change.oldObject.spec.priority : weakest;
}

/** Absent: false. InfiniBand VFs that keep their kernel driver always have their RDMA device. */
function rdmaDefault({ spec }: SriovNetworkNodePolicy): boolean | undefined {
  const needsRdma = spec.linkType?.toLowerCase() === "ib" && spec.deviceType !== "vfio-pci";
  if (needsRdma) return spec.isRdma === true ? undefined : true;
  return spec.isRdma === undefined ? false : undefined;
}

function kept(priority: number): Finding {
  return warn("spec.priority", `is absent, so the stored value ${priority} is kept; set ${weakest} for the default`);
}
