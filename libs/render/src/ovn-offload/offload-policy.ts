// SPDX-License-Identifier: Apache-2.0
/**
 * ovnOffloadPolicy returns the SriovNetworkNodePolicy that creates VFs on the SmartNICs of one model in one pool (smartnic.md
 * 3.1). The embedded switch belongs to the SmartNIC's own processors, so eSwitchMode is not set.
 * Usage: `const policy = ovnOffloadPolicy({ pool: "dpu-host", model: "bluefield-2", namespace, numVfs: 16 });`
 */
import { labels, type SriovNetworkNodePolicy, type SriovNetworkNodePolicySpec } from "@switchyard/api";
import { smartNicModels, smartNicVendor, type SmartNicModel } from "@switchyard/policy";
import { createHash } from "node:crypto";
import type { Manifest } from "../components/objects/kube-objects.ts";

export interface OffloadPolicyOptions {
  readonly pool: string;
  readonly model: SmartNicModel;
  readonly namespace: string;
  /** Number of VFs of a new policy, those of the management ports among them. */
  readonly numVfs: number;
  /** The policy as it is stored. Its fields are kept, except those that tie it to the pool and the model. */
  readonly present?: SriovNetworkNodePolicy;
}

/** A policy as it is applied. */
export type OffloadPolicy = Manifest & { readonly spec: SriovNetworkNodePolicySpec };

const program = "switchyard-ovn-offload";

/** Label selector of all objects that ovn-offload has created. */
export const ovnOffloadSelector = `${labels.managedBy}=${program}`;

/** Label of the objects that ovn-offload creates for all pools together. */
export const ovnOffloadMark: Readonly<Record<string, string>> = { [labels.managedBy]: program };

interface Labelled {
  readonly metadata: { readonly labels?: Readonly<Record<string, string>> };
}

/** Longest name of an object that other names and label values can contain. */
const maxName = 63;

/** Beginning of the names of all policies of ovn-offload. */
export const ovnOffloadPolicyPrefix = "ovn-offload-";

/** A long name ends with a hash, so that names stay different. */
export function ovnOffloadPolicyName(pool: string, model: SmartNicModel): string {
  const name = `${ovnOffloadPolicyPrefix}${pool}-${model}`;
  if (name.length <= maxName) return name;
  const hash = createHash("sha256").update(name).digest("hex").slice(0, 8);
  return `${name.slice(0, maxName - hash.length - 1).replace(/[^a-z0-9]+$/, "")}-${hash}`;
}

/** Users can change the number of VFs, the MTU, the priority, the resource's name and other settings of a VF. */
export function ovnOffloadPolicy({ pool, model, namespace, numVfs, present }: OffloadPolicyOptions): OffloadPolicy {
  const settings = present?.spec ?? {
    resourceName: model.replace("-", ""),
    priority: 99,
    numVfs,
  };
  return {
    apiVersion: "sriovnetwork.openshift.io/v1",
    kind: "SriovNetworkNodePolicy",
    metadata: { name: ovnOffloadPolicyName(pool, model), namespace, labels: ovnOffloadLabels(pool) },
    spec: {
      ...settings,
      nodeSelector: { [labels.ovnOffloadPool]: pool },
      nicSelector: { vendor: smartNicVendor, deviceID: deviceIdOf(model) },
    },
  };
}

function deviceIdOf(model: SmartNicModel): string {
  const [deviceId] = Object.entries(smartNicModels).find(([, known]) => known === model) ?? [];
  if (deviceId === undefined) throw new Error(`SmartNIC model ${model} has no PCI device ID`);
  return deviceId;
}

/**
 * ovnOffloadLabels returns the labels by which the objects that ovn-offload has created are told from those of users. Labels of
 * all objects that ovn-offload creates for a pool.
 */
export function ovnOffloadLabels(pool: string): Readonly<Record<string, string>> {
  return { ...ovnOffloadMark, [labels.ovnOffloadPool]: pool };
}

/** Reports whether ovn-offload has created the object. */
export function isOfOvnOffload({ metadata }: Labelled): boolean {
  return metadata.labels?.[labels.managedBy] === program;
}
