// SPDX-License-Identifier: Apache-2.0
/**
 * ovn-offload may only change the nodeSelector of OpenShift's DNS, and the annotation with the nodeSelector before.
 */
import { celLiteral, sameEntriesExcept, sameFields } from "../../components/rights/policy-for-users.ts";
import { dnsPlacementBefore } from "../dns-placement.ts";
import type { OffloadLimit } from "./offload-limit.ts";

export function dnsLimit(): OffloadLimit {
  const both = (name: string, path: string) => [
    { name: `${name}Before`, expression: `dyn(oldObject)${path}.orValue({})` },
    { name: `${name}After`, expression: `dyn(object)${path}.orValue({})` },
  ];
  const same = (name: string, exceptKey: string) =>
    sameEntriesExcept(`key == ${celLiteral(exceptKey)}`, {
      before: `variables.${name}Before`,
      after: `variables.${name}After`,
    });
  return {
    name: "dns",
    rule: {
      apiGroups: ["operator.openshift.io"],
      apiVersions: ["v1"],
      resources: ["dnses"],
      scope: "Cluster",
      operations: ["UPDATE"],
    },
    variables: [
      ...both("annotations", ".metadata.?annotations"),
      ...both("spec", ".?spec"),
      ...both("placement", ".?spec.?nodePlacement"),
    ],
    validations: [
      {
        expression: [
          sameFields("metadata.?labels", "metadata.?finalizers", "metadata.?ownerReferences"),
          same("annotations", dnsPlacementBefore),
          same("spec", "nodePlacement"),
          same("placement", "nodeSelector"),
        ].join(" && "),
        message: `"change spec.nodePlacement.nodeSelector and the annotation ${dnsPlacementBefore} of the DNS " + request.name`,
      },
    ],
  };
}
