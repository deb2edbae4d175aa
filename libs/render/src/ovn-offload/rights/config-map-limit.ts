// SPDX-License-Identifier: Apache-2.0
/**
 * ovn-offload may only write its entries in the ConfigMaps that it shares with others. It creates only these ConfigMaps, and deletes
 * only those that it created and that are empty.
 */
import { celLiteral, sameEntriesExcept, sameFields } from "../../components/rights/policy-for-users.ts";
import { managementResourceKey, managementResourceSuffix, ownKeyAnnotation } from "../hardware-offload-config.ts";
import { managementPortEntry, managementPortLine } from "../management-port-maps.ts";
import { ovnOffloadMaps, type OvnOffloadIdentitySettings } from "./offload-rules.ts";
import { isOwn, metadataLimit, targetVariable, type OffloadLimit } from "./offload-limit.ts";

type Settings = Pick<OvnOffloadIdentitySettings, "clusterType" | "ovnNamespace">;

export function configMapLimit(settings: Settings): OffloadLimit {
  const maps = ovnOffloadMaps(settings);
  const ids = Object.values(maps).map(({ namespace, name }) => `${namespace}/${name}`);
  const entries = entryRules.flatMap(({ role, expression, message }) => {
    const map = maps[role];
    if (map === undefined) return [];
    const isOther = `variables.id != ${celLiteral(`${map.namespace}/${map.name}`)}`;
    return [{ expression: `${isOther} || (${expression})`, message: `"${message} in the ConfigMap ${map.name}"` }];
  });
  return {
    name: "config-maps",
    rule: {
      apiGroups: [""],
      apiVersions: ["v1"],
      resources: ["configmaps"],
      scope: "Namespaced",
      operations: ["CREATE", "UPDATE", "DELETE"],
    },
    variables: [
      targetVariable,
      { name: "id", expression: 'request.namespace + "/" + variables.target.metadata.?name.orValue("")' },
      { name: "before", expression: dataOf("oldObject", "data") },
      { name: "after", expression: dataOf("object", "data") },
    ],
    validations: [
      {
        expression: `variables.id in ${JSON.stringify(ids)}`,
        message: `"write the ConfigMaps ${ids.join(", ")}, not " + variables.id`,
      },
      {
        expression: `request.operation != "CREATE" || ${isOwn("object")}`,
        message: '"create ConfigMaps that have its label"',
      },
      {
        expression:
          `request.operation != "DELETE" || (${isOwn("oldObject")} && size(variables.before) == 0 && ` +
          `size(${dataOf("oldObject", "binaryData")}) == 0)`,
        message: '"delete ConfigMaps that it has created and that are empty"',
      },
      {
        expression:
          `request.operation != "CREATE" || (size(${dataOf("object", "binaryData")}) == 0 && ` +
          "!object.?immutable.orValue(false))",
        message: '"create ConfigMaps that can be changed and have texts only"',
      },
      metadataLimit("ConfigMaps", [ownKeyAnnotation]),
      {
        expression: `request.operation != "UPDATE" || (${sameFields("metadata.?labels", "?binaryData", "?immutable")})`,
        message: `"change data and the annotation ${ownKeyAnnotation} of the ConfigMap " + request.name`,
      },
      ...entries,
    ],
  };
}

function dataOf(object: string, field: string): string {
  return `${object} == null ? {} : dyn(${object}).?${field}.orValue({})`;
}

const entry = celLiteral(managementPortEntry());
const line = celLiteral(managementPortLine());
const resourceKey = celLiteral(managementResourceKey);
const suffix = celLiteral(managementResourceSuffix);

/** The lines of a key's value without ours; none if the key does not exist. */
function otherLines(data: string): string {
  return `(key in ${data} ? ${data}[key].split("\\n").filter(line, line != ${line}) : [])`;
}

/** By the role of the ConfigMap. A deletion has been checked before: nothing is left then. */
const entryRules = [
  {
    role: "managementPorts",
    expression:
      `variables.before.all(key, key in variables.after ? variables.after[key] == variables.before[key] ` +
      `: variables.before[key] == ${entry}) && ` +
      `variables.after.all(key, key in variables.before || variables.after[key] == ${entry})`,
    message: "add and remove its own entries",
  },
  {
    role: "envOverrides",
    expression: ["before", "after"]
      .map((data) => {
        const isSame = "variables.before[?key] == variables.after[?key]";
        const same = `${otherLines("variables.before")} == ${otherLines("variables.after")}`;
        return `variables.${data}.all(key, ${isSame} || ${same})`;
      })
      .join(" && "),
    message: `add and remove the line ${managementPortLine()}`,
  },
  {
    role: "hardwareOffload",
    expression:
      sameEntriesExcept(`key == ${resourceKey}`, { before: "variables.before", after: "variables.after" }) +
      ` && (variables.before[?${resourceKey}] == variables.after[?${resourceKey}] || ` +
      `(variables.after[?${resourceKey}].orValue(${suffix}).endsWith(${suffix}) && ` +
      `(variables.before[?${resourceKey}].orValue("") == "" || variables.before[?${resourceKey}].orValue("").endsWith(${suffix}))))`,
    message: `set ${managementResourceKey} to its own resource`,
  },
] as const;
