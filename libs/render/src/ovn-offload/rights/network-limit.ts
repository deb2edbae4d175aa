// SPDX-License-Identifier: Apache-2.0
/**
 * A NetworkAttachmentDefinition is configuration of CNI plugins, which run as root on nodes. Therefore ovn-offload may only write its
 * own: under its own names, and with exactly the configuration of its release.
 */
import { annotations } from "@switchyard/api";
import { celLiteral } from "../../components/rights/policy-for-users.ts";
import { ovnOffloadMark } from "../offload-policy.ts";
import { offloadNetworkConfig, type OffloadNetworkName } from "../offload-network.ts";
import { ownVariable, targetVariable, type OffloadLimit } from "./offload-limit.ts";

export function networkLimit({ namespace, name }: OffloadNetworkName): OffloadLimit {
  const only = (field: string, key: string) =>
    `object.metadata.?${field}.orValue({}).all(key, key == ${celLiteral(key)})`;
  const [mark = ""] = Object.keys(ovnOffloadMark);
  return {
    name: "networks",
    rule: {
      apiGroups: ["k8s.cni.cncf.io"],
      apiVersions: ["v1"],
      resources: ["network-attachment-definitions"],
      scope: "Namespaced",
      operations: ["CREATE", "UPDATE", "DELETE"],
    },
    variables: [
      ...[targetVariable, ownVariable],
      { name: "name", expression: 'variables.target.metadata.?name.orValue("")' },
    ],
    validations: [
      {
        expression:
          `variables.isOwn && request.namespace == ${celLiteral(namespace)} && ` +
          `(variables.name == ${celLiteral(name)} || variables.name.startsWith(${celLiteral(`${name}-`)}))`,
        message: `"write NetworkAttachmentDefinitions ${namespace}/${name} and ${namespace}/${name}-RESOURCE that have its label"`,
      },
      {
        expression:
          `request.operation == "DELETE" || (object.?spec.?config.orValue("") == ${celLiteral(offloadNetworkConfig)} && ` +
          `${only("labels", mark)} && ${only("annotations", annotations.resourceName)} && ` +
          "object.metadata.?ownerReferences.orValue([]) == [] && object.metadata.?finalizers.orValue([]) == [])",
        message: '"write NetworkAttachmentDefinitions with the configuration that this release of Switchyard has"',
      },
    ],
  };
}
