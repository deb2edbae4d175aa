// SPDX-License-Identifier: Apache-2.0
/**
 * ovn-offload may only write SriovNetworkNodePolicies that it has created, and only for SmartNICs of hosts with its label.
 */
import { labels } from "@switchyard/api";
import { smartNicModels, smartNicVendor } from "@switchyard/policy";
import { celLiteral } from "../../components/rights/policy-for-users.ts";
import { ovnOffloadPolicyPrefix } from "../offload-policy.ts";
import { metadataLimit, ownVariable, poolVariable, targetVariable, type OffloadLimit } from "./offload-limit.ts";

export function nodePolicyLimit(): OffloadLimit {
  const deviceIds = JSON.stringify(Object.keys(smartNicModels).sort());
  return {
    name: "policies",
    rule: {
      apiGroups: ["sriovnetwork.openshift.io"],
      apiVersions: ["v1"],
      resources: ["sriovnetworknodepolicies"],
      scope: "Namespaced",
      operations: ["CREATE", "UPDATE", "DELETE"],
    },
    variables: [
      ...[targetVariable, poolVariable, ownVariable],
      { name: "nicSelector", expression: "dyn(object).spec.?nicSelector.orValue({})" },
    ],
    validations: [
      {
        expression:
          `variables.isOwn && variables.pool != "" && ` +
          `variables.target.metadata.?name.orValue("").startsWith(${celLiteral(ovnOffloadPolicyPrefix)})`,
        message: `"write SriovNetworkNodePolicies ${ovnOffloadPolicyPrefix}NAME that have its labels"`,
      },
      {
        expression:
          'request.operation == "DELETE" || ' +
          `(dyn(object).spec.?nodeSelector.orValue({}) == {${celLiteral(labels.ovnOffloadPool)}: variables.pool} && ` +
          'variables.nicSelector.all(key, key in ["vendor", "deviceID"]) && ' +
          `variables.nicSelector.?vendor.orValue("") == ${celLiteral(smartNicVendor)} && ` +
          `variables.nicSelector.?deviceID.orValue("") in ${deviceIds})`,
        message: `"write SriovNetworkNodePolicies that select the SmartNICs of nodes with the label ${labels.ovnOffloadPool}"`,
      },
      metadataLimit("SriovNetworkNodePolicies"),
    ],
  };
}
