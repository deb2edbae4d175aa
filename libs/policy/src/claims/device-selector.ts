// SPDX-License-Identifier: Apache-2.0
/**
 * readSelector reads the CEL expressions of claims and DeviceClasses that compare attributes with constants, joined by "&&". Those of the
 * generated DeviceClasses and of most claims are of this form. Others are not evaluated.
 * Usage: `readSelector('device.attributes["k8s.cni.cncf.io"].resourceName == "openshift.io/fast"')`.
 */
import { draDriverName } from "@switchyard/api";
import type { AttributeValue, PublishedVf } from "./published-vfs.ts";

/** An attribute must have the value. */
export interface Comparison {
  /** "domain/name". */
  readonly attribute: string;
  readonly value: AttributeValue;
}

/** Comparisons of which all must be true; undefined if the expression has another form. */
export function readSelector(expression: string): readonly Comparison[] | undefined {
  const comparisons: Comparison[] = [];
  for (const part of expression.split("&&")) {
    const term = part.trim();
    if (term === `device.driver == "${draDriverName}"`) continue;
    const [, domain, name, text] =
      /^device\.attributes\["([\w./-]+)"\]\.(\w+) == ("[^"\\]*"|-?\d{1,15}|true|false)$/.exec(term) ?? [];
    if (domain === undefined || name === undefined || text === undefined) return undefined;
    comparisons.push({ attribute: `${domain}/${name}`, value: JSON.parse(text) as AttributeValue });
  }
  return comparisons;
}

export function fulfils({ attributes }: Pick<PublishedVf, "attributes">, comparisons: readonly Comparison[]): boolean {
  return comparisons.every(({ attribute, value }) => attributes.get(attribute) === value);
}
