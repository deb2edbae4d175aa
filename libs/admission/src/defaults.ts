// SPDX-License-Identifier: Apache-2.0
/**
 * applyDefaults fills in the defaults of a policy before its rules are checked (sriov-operator.md E.1). The default of
 * deviceType is in the CRD.
 * Usage: `const { patch } = applyDefaults({ operation: "CREATE", object: policy });`
 */
import { defined, type SriovNetworkNodePolicy } from "@switchyard/api";
import { isIgnoredPolicy } from "./policy-context.ts";
import { warn, type ReviewFinding } from "./finding.ts";
import type { ReviewedChange } from "./review.ts";

/** An operation of a JSON patch (RFC 6902). "add" also replaces an existing member. */
export interface PatchOperation {
  readonly op: "add";
  readonly path: string;
  readonly value: unknown;
}

export interface Defaulted {
  /** The object with its defaults. */
  readonly object: SriovNetworkNodePolicy;
  /** The patch that adds the defaults to the given object; empty if none is missing. */
  readonly patch: readonly PatchOperation[];
  readonly findings: readonly ReviewFinding[];
}

/** The defaultPriority priority. */
const defaultPriority = 99;

/** A policy named "default", which the operator ignores, is not changed. */
export function applyDefaults(
  change: Exclude<ReviewedChange<SriovNetworkNodePolicy>, { operation: "DELETE" }>,
): Defaulted {
  const { object } = change;
  if (isIgnoredPolicy(object)) return { object, patch: [], findings: [] };
  const { spec } = object;
  const priority = spec.priority === undefined ? missingPriority(change) : undefined;
  const isRdma = rdmaDefault(object);
  const filled = defined({ priority, isRdma });
  return {
    object: { ...object, spec: { ...spec, ...filled } },
    patch: Object.entries(filled).map(([name, value]) => ({ op: "add", path: `/spec/${name}`, value })),
    findings:
      change.operation === "UPDATE" && priority !== undefined && priority !== defaultPriority
        ? [keptPriority(priority)]
        : [],
  };
}

/**
 * A client in Go cannot send priority 0, the strongest: it omits the key. Therefore an update without the key keeps the
 * stored value, also if none is stored, which counts as 0 (sriov-operator.md M-38).
 */
function missingPriority(change: ReviewedChange<SriovNetworkNodePolicy>): number | undefined {
  return change.operation === "UPDATE" ? change.oldObject.spec.priority : defaultPriority;
}

/** False, except for InfiniBand: VFs that keep their kernel driver always have their RDMA device. */
function rdmaDefault({ spec }: SriovNetworkNodePolicy): boolean | undefined {
  const needsRdma = spec.linkType?.toLowerCase() === "ib" && spec.deviceType !== "vfio-pci";
  if (needsRdma) return spec.isRdma === true ? undefined : true;
  return spec.isRdma === undefined ? false : undefined;
}

function keptPriority(priority: number): ReviewFinding {
  return warn(
    "spec.priority",
    `is omitted, so the stored value ${priority} is kept; set ${defaultPriority} for the default`,
  );
}
