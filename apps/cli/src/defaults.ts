// SPDX-License-Identifier: Apache-2.0

/** What is assumed about a cluster unless flags say otherwise. */
export const clusterDefaults = {
  /** The namespace of the operator. */
  namespace: "sriov-network-operator",
  /** Prefix of resource names, the part before the slash. */
  resourcePrefix: "openshift.io",
  clusterType: "kubernetes",
} as const;
