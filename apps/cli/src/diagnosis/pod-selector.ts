// SPDX-License-Identifier: Apache-2.0
/** selectsPods decides whether a metav1.LabelSelector of a file or cluster selects labels. */
import { listAt, stringsAt, textAt, type JsonObject } from "../json.ts";

/** An empty selector selects everything; a malformed requirement selects nothing. */
export function selectsPods(selector: JsonObject, labels: Readonly<Record<string, string>>): boolean {
  const required = Object.entries(stringsAt(selector, "matchLabels"));
  return (
    required.every(([key, value]) => labels[key] === value) &&
    listAt(selector, "matchExpressions").every((requirement) => {
      const [key = "", operator] = [textAt(requirement, "key"), textAt(requirement, "operator")];
      const values = listAt(requirement, "values");
      const has = Object.hasOwn(labels, key);
      if (operator === "In") return has && values.includes(labels[key]);
      if (operator === "NotIn") return !has || !values.includes(labels[key]);
      if (operator === "Exists") return has;
      return operator === "DoesNotExist" && !has;
    })
  );
}
