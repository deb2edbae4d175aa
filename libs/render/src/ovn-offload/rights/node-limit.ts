// SPDX-License-Identifier: Apache-2.0
/** ovn-offload may only change its own labels and its own taint of a Node. */
import { taints } from "@switchyard/api";
import { offloadLabelKeys } from "@switchyard/policy";
import { celLiteral, sameEntriesExcept, sameFields } from "../../components/rights/policy-for-users.ts";
import { dnsEligibleLabel } from "../dns-placement.ts";
import { defaultHostLabel, plainHostLabel, proposalHostLabel } from "../hardware-offload-config.ts";
import type { OffloadLimit } from "./offload-limit.ts";
import type { OvnOffloadIdentitySettings } from "./offload-rules.ts";

/** "NoSchedule" is the only effect that entries of ovnHardwareOffload can have. */
const effect = "NoSchedule";

export function nodeLimit({ hostLabel }: Pick<OvnOffloadIdentitySettings, "hostLabel">): OffloadLimit {
  const ofOvn = [proposalHostLabel, plainHostLabel, defaultHostLabel, hostLabel];
  const keys = [...offloadLabelKeys, dnsEligibleLabel, ...ofOvn];
  const taint = celLiteral(taints.ovnOffload);
  const others = (list: string) => `variables.${list}.filter(taint, taint.key != ${taint})`;
  return {
    name: "nodes",
    rule: {
      apiGroups: [""],
      apiVersions: ["v1"],
      resources: ["nodes"],
      scope: "Cluster",
      operations: ["UPDATE"],
    },
    variables: [
      { name: "labelsBefore", expression: "oldObject.metadata.?labels.orValue({})" },
      { name: "labelsAfter", expression: "object.metadata.?labels.orValue({})" },
      { name: "specBefore", expression: "dyn(oldObject).?spec.orValue({})" },
      { name: "specAfter", expression: "dyn(object).?spec.orValue({})" },
      { name: "taintsBefore", expression: "variables.specBefore.?taints.orValue([])" },
      { name: "taintsAfter", expression: "variables.specAfter.?taints.orValue([])" },
    ],
    validations: [
      {
        expression: sameEntriesExcept(`key in ${JSON.stringify(keys)}`, {
          before: "variables.labelsBefore",
          after: "variables.labelsAfter",
        }),
        message: '"change its own labels of the Node " + request.name',
      },
      {
        expression:
          `${others("taintsBefore")} == ${others("taintsAfter")} && ` +
          `variables.taintsAfter.all(taint, taint.key != ${taint} || taint.effect == ${celLiteral(effect)})`,
        message: `"change its taint ${taints.ovnOffload}:${effect} of the Node " + request.name`,
      },
      {
        expression: [
          sameFields("metadata.?annotations", "metadata.?finalizers", "metadata.?ownerReferences"),
          sameEntriesExcept('key == "taints"', { before: "variables.specBefore", after: "variables.specAfter" }),
        ].join(" && "),
        message: '"change its own labels and its taint of the Node " + request.name',
      },
    ],
  };
}
