// SPDX-License-Identifier: Apache-2.0
/**
 * ovnOffloadLabels returns the labels by which the objects that ovn-offload has created are told from those of users.
 * Usage: `if (isOfOvnOffload(policy)) ...`
 */
import { labels } from "@switchyard/api";

const program = "switchyard-ovn-offload";

/** Label selector of all objects that ovn-offload has created. */
export const ovnOffloadSelector = `${labels.managedBy}=${program}`;

/** Labels of all objects that ovn-offload creates for a pool. */
export function ovnOffloadLabels(pool: string): Readonly<Record<string, string>> {
  return { ...ovnOffloadMark, [labels.ovnOffloadPool]: pool };
}

/** Label of the objects that ovn-offload creates for all pools together. */
export const ovnOffloadMark: Readonly<Record<string, string>> = { [labels.managedBy]: program };

/** Reports whether ovn-offload has created the object. */
export function isOfOvnOffload({ metadata }: Labelled): boolean {
  return metadata.labels?.[labels.managedBy] === program;
}

interface Labelled {
  readonly metadata: { readonly labels?: Readonly<Record<string, string>> };
}
