// SPDX-License-Identifier: Apache-2.0
/**
 * operatorSecretLimit returns the admission policy for the Secrets that the operator writes, and its binding. RBAC
 * cannot limit the type of a Secret. A Secret of type kubernetes.io/service-account-token, under the name of a
 * certificate that the operator may read, would give it the token of any service account in its namespace. The operator
 * has no right to change the policy.
 */
import type { ComponentSettings } from "../component-settings.ts";
import type { Manifest } from "../objects/kube-objects.ts";
import { policyForUsers } from "./policy-for-users.ts";

export function operatorSecretLimit({
  namespace,
  operatorServiceAccount: account,
}: Pick<ComponentSettings, "namespace" | "operatorServiceAccount">): readonly Manifest[] {
  return policyForUsers({
    metadata: { name: `${account}-secrets`, labels: { "app.kubernetes.io/name": account } },
    users: [`system:serviceaccount:${namespace}:${account}`],
    condition: "operator",
    rules: [
      {
        apiGroups: [""],
        apiVersions: ["v1"],
        resources: ["secrets"],
        scope: "Namespaced",
        operations: ["CREATE", "UPDATE"],
      },
    ],
    validations: [
      {
        expression:
          'object.?type.orValue("Opaque") in ["kubernetes.io/tls", "Opaque"] && ' +
          '!("kubernetes.io/service-account.name" in object.metadata.?annotations.orValue({}))',
        messageExpression:
          'request.userInfo.username + " may only write Secrets of type kubernetes.io/tls or Opaque, without the annotation kubernetes.io/service-account.name"',
      },
    ],
  });
}
