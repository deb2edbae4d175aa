// SPDX-License-Identifier: Apache-2.0
/** checkResourceName checks the name by which pods request the VFs (sriov-operator.md E.2). */
import type { SriovNetworkNodePolicy } from "@switchyard/api";
import { refuse, type Finding } from "../finding.ts";
import { quote } from "../phrase.ts";

/** The limit of Kubernetes for the part of a resource name after the prefix. */
const maxLength = 63;

export function checkResourceName({ spec }: SriovNetworkNodePolicy): readonly Finding[] {
  const { resourceName } = spec;
  const field = "spec.resourceName";
  if (resourceName === "") return [refuse(field, "must not be empty: pods request the VFs by this name")];
  if (resourceName.length > maxLength) {
    return [refuse(field, `must be at most ${maxLength} characters long, not ${resourceName.length}`)];
  }
  if (/^[A-Za-z0-9]([-A-Za-z0-9_]*[A-Za-z0-9])?$/.test(resourceName)) return [];
  const right = 'must consist of letters, digits, "-" and "_", and start and end with a letter or digit';
  return [refuse(field, `${right}, not ${quote(resourceName)}`)];
}
