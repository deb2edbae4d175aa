// SPDX-License-Identifier: Apache-2.0
/**
 * ovnOffloadLimits returns the admission policies that limit the requests of ovn-offload to what it has to write. A
 * request to create an object has no name that RBAC could limit, and RBAC knows no fields. Requests of others are not
 * affected.
 */
import { defined } from "@switchyard/api";
import type { Manifest } from "../../components/objects/kube-objects.ts";
import { policyForUsers } from "../../components/rights/policy-for-users.ts";
import { configMapLimit } from "./config-map-limit.ts";
import { dnsLimit } from "./dns-limit.ts";
import { machineConfigLimit } from "./machine-config-limit.ts";
import { nodeLimit } from "./node-limit.ts";
import { networkLimit } from "./network-limit.ts";
import { nodePolicyLimit } from "./node-policy-limit.ts";
import type { OffloadLimit } from "./offload-limit.ts";
import { ovnOffloadLease, type OvnOffloadIdentitySettings } from "./offload-rules.ts";

export function ovnOffloadLimits(settings: OvnOffloadIdentitySettings): readonly Manifest[] {
  const { namespace, serviceAccount, clusterType } = settings;
  const openshift = clusterType === "openshift" ? [machineConfigLimit(), dnsLimit()] : [];
  const common = [nodeLimit(settings), nodePolicyLimit(), configMapLimit(settings), networkLimit(settings.network)];
  const limits = [...openshift, ...common, leaseLimit];
  return limits.flatMap(({ name, rule, variables, validations }) =>
    policyForUsers({
      metadata: { name: `${serviceAccount}-${name}` },
      users: [`system:serviceaccount:${namespace}:${serviceAccount}`],
      condition: "ovn-offload",
      rules: [rule],
      ...defined({ variables }),
      validations: validations.map(({ expression, message }) => ({
        expression,
        messageExpression: `request.userInfo.username + " may only " + ${message}`,
      })),
    }),
  );
}

const leaseLimit: OffloadLimit = {
  name: "leases",
  rule: {
    apiGroups: ["coordination.k8s.io"],
    apiVersions: ["v1"],
    resources: ["leases"],
    scope: "Namespaced",
    operations: ["CREATE"],
  },
  validations: [
    {
      expression: `object.metadata.?name.orValue("") == ${JSON.stringify(ovnOffloadLease)}`,
      message: `"create the Lease ${ovnOffloadLease}"`,
    },
  ],
};
