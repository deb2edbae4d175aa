// SPDX-License-Identifier: Apache-2.0
/** Flags of ovn-offload, beside those that all services have. */
import { flag, text, yesOrNo } from "@switchyard/service";

export const ovnOffloadFlags = {
  leaderElect: flag(yesOrNo, {
    default: "true",
    env: "LEADER_ELECT",
    help: "Write only while holding the Lease switchyard-ovn-offload. Required for more than one replica.",
  }),
  resourcePrefix: flag(text("PREFIX"), {
    default: "openshift.io",
    env: "RESOURCE_PREFIX",
    help: "Prefix of resource names, the part before the slash.",
  }),
  ovnNamespace: flag(text("NAMESPACE"), {
    default: "ovn-kubernetes",
    env: "OVN_NAMESPACE",
    help: "Namespace of OVN-Kubernetes in clusters other than OpenShift.",
  }),
};
